import { asApiError } from "../api/errors";
import type { ApiError, SearchHit } from "../api/generated";
import type { Api } from "./api";
import { Debounce } from "./debounce";

/** State of the search over messages, which lies over the window. */
export class MessageSearch {
	shown = $state(false);
	query = $state("");
	/** Searches only this chat; `null` searches all. */
	chat = $state<string | null>(null);
	hits = $state.raw<SearchHit[]>([]);
	more = $state(false);
	/** The text whose hits are shown; empty before the first answer. */
	answered = $state("");
	failure = $state.raw<ApiError | null>(null);
	#debounce = new Debounce(120);
	#asked = 0;

	constructor(private readonly api: Api) {}

	/** Opens the search, with the last text. */
	open(chat: string | null): void {
		this.shown = true;
		if (this.chat === chat) return;
		this.chat = chat;
		void this.run();
	}

	/** Opens the search over all chats with a text. */
	find(text: string): void {
		[this.query, this.chat, this.shown] = [text.trim(), null, true];
		void this.run();
	}

	close = (): void => {
		this.shown = false;
		this.#debounce.cancel();
	};

	type(text: string): void {
		this.query = text;
		this.#debounce.run(() => void this.run());
	}

	setChat(chat: string | null): void {
		this.chat = chat;
		void this.run();
	}

	/** Searches for the text from the start. An answer to an older text is ignored. */
	async run(): Promise<void> {
		await this.#load(0);
	}

	async loadMore(): Promise<void> {
		if (this.more) await this.#load(this.hits.length);
	}

	async #load(skip: number): Promise<void> {
		const asked = ++this.#asked;
		const text = this.query.trim();
		try {
			const page = text === "" ? { hits: [], more: false } : await this.api.searchMessages(text, this.chat, skip);
			if (asked !== this.#asked) return;
			[this.hits, this.more, this.failure, this.answered] = [skip ? [...this.hits, ...page.hits] : page.hits, page.more, null, text];
		} catch (thrown) {
			if (asked === this.#asked) this.failure = asApiError(thrown);
		}
	}
}
