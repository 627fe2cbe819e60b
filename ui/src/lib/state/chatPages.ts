import type { Message } from "../api/generated";
import type { Api } from "./api";
import type { ChatState, RevealTarget } from "./chat.svelte";
import { setOf } from "./find";

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
		const [first] = chat.messages;
		if (!first || !chat.more || this.#loading) return;
		this.#loading = true;
		const page = await this.run(() => this.api.messagesBefore(chat.id, first.id, limit));
		if (page) this.#prepend(page.messages, page.more);
		this.#loading = false;
	}

	/** Two requests at once may bring the same messages. */
	#prepend(older: Message[], more: boolean): void {
		const known = setOf(this.chat.messages.map(({ id }) => id));
		this.chat.prepending = true;
		this.chat.messages = [...older.filter(({ id }) => !known.has(id)), ...this.chat.messages];
		this.chat.more = more;
	}

	async reveal(target: RevealTarget): Promise<void> {
		const { chat } = this;
		await this.#loadWhile((loaded) => loaded.findIndex((message) => message.id === target.id) < MARGIN);
		chat.target = target;
	}

	async revealFirst(): Promise<void> {
		const { chat } = this;
		await this.#loadWhile(() => true);
		const [first] = chat.messages;
		if (first) chat.target = { id: first.id, edge: "start" };
	}

	async revealDate(day: Date): Promise<void> {
		const { chat } = this;
		const from = day.getTime();
		const before = ({ created }: Message) => Date.parse(created) < from;
		await this.#loadWhile((loaded) => !loaded.slice(0, 1).some(before));
		const found = chat.messages.find((message) => !before(message)) ?? chat.last;
		if (found) await this.reveal({ id: found.id });
	}

	/** Loads older pages while `wanted` is true for the loaded messages. The list grows once, however far back they are. */
	async #loadWhile(wanted: (loaded: Message[]) => boolean): Promise<void> {
		const { chat } = this;
		let [older, more]: [Message[], boolean] = [[], chat.more];
		this.#loading = true;
		while (more && wanted([...older, ...chat.messages])) {
			const first = older[0] ?? chat.messages[0];
			const page = first && (await this.run(() => this.api.messagesBefore(chat.id, first.id, WIDE_PAGE)));
			if (!page || page.messages.length === 0) break;
			[older, more] = [[...page.messages, ...older], page.more];
		}
		this.#loading = false;
		if (older.length > 0) this.#prepend(older, more);
	}
}
