import type { Api } from "./api";

export interface ChatToDelete {
	id: string;
	title: string;
}

/** Chats to delete, and the number of memories that would be deleted with them. */
export interface DeletionRequest {
	chats: readonly ChatToDelete[];
	learned: number;
}

interface Callbacks {
	/** Runs an action and shows an error as a toast. */
	attempt(action: () => Promise<unknown>): Promise<void>;
	/** Called after the chats are deleted; the deletion can be undone. */
	deleted(chats: readonly ChatToDelete[]): Promise<void>;
}

/** Deletes chats. If they have memories, the user first decides whether to keep those. */
export class ChatDeletion {
	/** The deletion that waits for the user's decision. */
	asked = $state.raw<DeletionRequest | null>(null);

	constructor(
		private readonly api: Api,
		private readonly callbacks: Callbacks,
	) {}

	ask = (id: string, title: string): Promise<void> => this.askMany([{ id, title }]);

	askMany = (chats: readonly ChatToDelete[]): Promise<void> =>
		this.callbacks.attempt(async () => {
			const asked = { chats, learned: await this.api.learnedIn(chats.map(({ id }) => id)) };
			if (asked.learned > 0) this.asked = asked;
			else await this.#delete(asked, false);
		});

	cancel = (): void => void (this.asked = null);

	/** Deletes the chats. With `keep`, their memories stay. */
	async confirm(keep: boolean): Promise<void> {
		const { asked } = this;
		this.cancel();
		if (asked) await this.callbacks.attempt(() => this.#delete(asked, keep));
	}

	async #delete({ chats }: DeletionRequest, keep: boolean): Promise<void> {
		await this.api.deleteChats(
			chats.map(({ id }) => id),
			keep,
		);
		await this.callbacks.deleted(chats);
	}
}
