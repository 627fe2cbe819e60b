import { asApiError } from "../api/errors";
import type { ApiError, ChatId, SearchWord } from "../api/generated";
import type { Api } from "./api";
import { Debounce } from "./debounce";

/** State of the search in the open chat: its hits, and the one that is shown. */
export class ChatFind {
	shown = $state(false);
	query = $state("");
	/** Messages with a hit, in the order of the chat. */
	messages = $state.raw<string[]>([]);
	/** There are more hits before the first one. */
	more = $state(false);
	/** Words to highlight. */
	words = $state.raw<SearchWord[]>([]);
	/** The message that is shown; empty for none. */
	current = $state("");
	/** The text whose hits are known; empty before the first answer. */
	answered = $state("");
	failure = $state.raw<ApiError | null>(null);
	/** Increases when the field is to take the focus. */
	asked = $state(0);
	/** Number of the hit that is shown, from 1; 0 for none. */
	readonly number = $derived(this.messages.indexOf(this.current) + 1);
	#debounce = new Debounce(150);
	#request = 0;

	constructor(
		private readonly api: Api,
		private readonly chat: ChatId,
		/** Scrolls to a message without moving the focus. */
		private readonly reveal: (message: string) => Promise<void>,
	) {}

	/** Opens the search, with the last text. */
	open(): void {
		this.shown = true;
		this.asked += 1;
		if (this.query.trim() !== "") void this.#load(false);
	}

	close = (): void => {
		this.shown = false;
		this.#debounce.cancel();
		this.#request += 1;
		[this.messages, this.words, this.current, this.more, this.answered] = [[], [], "", false, ""];
	};

	type(query: string): void {
		this.query = query;
		this.#debounce.run(() => void this.#load(true));
	}

	/** Searches again after the messages have changed, and stays at the shown hit. */
	refresh(): void {
		if (this.answered !== "") this.#debounce.run(() => void this.#load(false));
	}

	/** Shows the next (1) or previous (-1) hit; after the last comes the first. */
	async step(step: 1 | -1): Promise<void> {
		if (this.answered !== this.query.trim()) {
			this.#debounce.cancel();
			return this.#load(true);
		}
		const { length } = this.messages;
		if (length === 0) return;
		const at = this.number === 0 ? (step === 1 ? 0 : length - 1) : (this.number - 1 + step + length) % length;
		await this.#show(this.messages[at] ?? "");
	}

	/** Loads the hits. With `move`, shows the last of them, unless the shown one is still a hit. */
	async #load(move: boolean): Promise<void> {
		const request = ++this.#request;
		const query = this.query.trim();
		try {
			const found = query === "" ? { messages: [], more: false, terms: [] } : await this.api.findInChat(this.chat, query);
			if (request !== this.#request) return;
			[this.messages, this.more, this.words, this.answered, this.failure] = [found.messages, found.more, found.terms, query, null];
		} catch (thrown) {
			if (request !== this.#request) return;
			[this.messages, this.more, this.words, this.current, this.failure] = [[], false, [], "", asApiError(thrown)];
			return;
		}
		if (this.number > 0) return;
		this.current = "";
		if (move) await this.#show(this.messages.at(-1) ?? "");
	}

	async #show(message: string): Promise<void> {
		this.current = message;
		if (message !== "") await this.reveal(message);
	}
}
