import type { Api } from "./api";

/** A chat to delete, and the number of memories that would be deleted with it. */
export interface DeletionRequest {
	id: string;
	title: string;
	learned: number;
}

interface Callbacks {
	/** Runs an action and shows an error as a toast. */
	attempt(action: () => Promise<unknown>): Promise<void>;
	/** Called after the chat is deleted; the deletion can be undone. */
	deleted(id: string, title: string): Promise<void>;
}

/** Deletes a chat. If it has memories, the user first decides whether to keep them. */
export class ChatDeletion {
	/** The deletion that waits for the user's decision. */
	asked = $state.raw<DeletionRequest | null>(null);

	constructor(
		private readonly api: Api,
		private readonly callbacks: Callbacks,
	) {}

	ask = (id: string, title: string): Promise<void> =>
		this.callbacks.attempt(async () => {
			const asked = { id, title, learned: await this.api.learnedIn(id) };
			if (asked.learned > 0) this.asked = asked;
			else await this.#delete(asked, false);
		});

	cancel = (): void => void (this.asked = null);

	/** Deletes the chat. With `keep`, its memories stay. */
	async confirm(keep: boolean): Promise<void> {
		const { asked } = this;
		this.cancel();
		if (asked) await this.callbacks.attempt(() => this.#delete(asked, keep));
	}

	async #delete({ id, title }: DeletionRequest, keep: boolean): Promise<void> {
		await (keep ? this.api.deleteChatButFacts(id) : this.api.deleteChat(id));
		await this.callbacks.deleted(id, title);
	}
}
