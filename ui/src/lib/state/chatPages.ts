import type { Message } from "../api/generated";
import type { Api } from "./api";
import type { ChatState } from "./chat.svelte";

const PAGE = 50;
/** Page size while an old message is searched. */
const WIDE_PAGE = 200;
/** Number of messages to load before a revealed one. A list that grows while it scrolls would lose its position. */
const MARGIN = 20;

/** Loads older messages of a chat, and finds messages to scroll to. */
export class ChatPages {
	#loading = false;

	constructor(
		private readonly chat: ChatState,
		private readonly api: Api,
		private readonly run: <T>(call: () => Promise<T>) => Promise<T | null>,
	) {}

	async loadOlder(limit = PAGE): Promise<void> {
		const { chat } = this;
		const first = chat.messages[0];
		if (!first || !chat.more || this.#loading) return;
		this.#loading = true;
		const page = await this.run(() => this.api.messagesBefore(chat.id, first.id, limit));
		if (page) {
			chat.prepending = true;
			chat.messages = [...page.messages, ...chat.messages];
			chat.more = page.more;
		}
		this.#loading = false;
	}

	async reveal(id: string, still = false): Promise<void> {
		const { chat } = this;
		await this.#loadWhile(() => chat.messages.findIndex((message) => message.id === id) < MARGIN);
		chat.target = { id, still };
	}

	async revealFirst(): Promise<void> {
		const { chat } = this;
		await this.#loadWhile(() => true);
		const [first] = chat.messages;
		if (first) chat.target = { id: first.id };
	}

	async revealDate(day: Date): Promise<void> {
		const { chat } = this;
		const from = day.getTime();
		const before = ({ created }: Message) => Date.parse(created) < from;
		await this.#loadWhile(() => !chat.messages.slice(0, 1).some(before));
		const found = chat.messages.find((message) => !before(message)) ?? chat.last;
		if (found) await this.reveal(found.id);
	}

	async #loadWhile(wanted: () => boolean): Promise<void> {
		const { chat } = this;
		while (chat.more && wanted()) {
			const before = chat.messages.length;
			await this.loadOlder(WIDE_PAGE);
			if (chat.messages.length === before) break;
		}
	}
}
