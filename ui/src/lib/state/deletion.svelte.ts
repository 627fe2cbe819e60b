import type { Api } from "./api";

/** A chat that is to be deleted, and how many memories it would take along. */
export interface Asked {
	id: string;
	title: string;
	learned: number;
}

interface Ways {
	/** Runs an action; what goes wrong is told at the window's edge. */
	attempt(action: () => Promise<unknown>): Promise<void>;
	/** It is gone, and can be brought back. */
	deleted(id: string, title: string): Promise<void>;
}

/** How a chat is deleted: at once if nothing was learned in it, else the user says first what becomes of that. */
export class ChatDeletion {
	/** What the user is being asked about. */
	asked = $state.raw<Asked | null>(null);

	constructor(
		private readonly api: Api,
		private readonly ways: Ways,
	) {}

	ask = (id: string, title: string): Promise<void> =>
		this.ways.attempt(async () => {
			const asked = { id, title, learned: await this.api.learnedIn(id) };
			if (asked.learned > 0) this.asked = asked;
			else await this.#delete(asked, false);
		});

	cancel = (): void => void (this.asked = null);

	/** The user has decided; what was learned stays where it is to `keep`. */
	async confirm(keep: boolean): Promise<void> {
		const { asked } = this;
		this.cancel();
		if (asked) await this.ways.attempt(() => this.#delete(asked, keep));
	}

	async #delete({ id, title }: Asked, keep: boolean): Promise<void> {
		await (keep ? this.api.deleteChatButFacts(id) : this.api.deleteChat(id));
		await this.ways.deleted(id, title);
	}
}
