import { asApiError } from "../api/errors";
import type { ApiError, ChatId, ItemHit, SearchGroup, SearchGroupKind, SearchHit, SearchResults, SearchWord } from "../api/generated";
import type { Api } from "./api";
import { Debounce } from "./debounce";
import { setOf } from "./find";
import type { PageValues } from "./pageValues";

export type HitGroupName = "messages" | "earlier" | SearchGroupKind;

/** A group of hits as it is shown: of messages, or of other items. */
export type HitGroup = { more: boolean } & ({ name: "messages" | "earlier"; hits: SearchHit[] } | { name: SearchGroupKind; items: ItemHit[] });

const KEY = "inglenook.searchByMeaning";
/** Pause before a search by meaning, which is slower than one by words. */
const MEANING_PAUSE_MS = 250;

/** State of the search over messages, notes, memories, lorebooks and characters, which lies over the window. */
export class MessageSearch {
	shown = $state(false);
	query = $state("");
	/** Searches only this chat; `null` searches all. */
	chat = $state<string | null>(null);
	hits = $state.raw<SearchHit[]>([]);
	more = $state(false);
	earlier = $state.raw<SearchResults["earlier"]>({ hits: [], more: false });
	items = $state.raw<SearchGroup[]>([]);
	/** Shows only this group. */
	only = $state<HitGroupName | null>(null);
	/** Something is embedded; `null` until the first answer. */
	canFindMeaning = $state<boolean | null>(null);
	/** The user wants hits by meaning. */
	wantsMeaning = $state(true);
	/** Hits by meaning are on their way. */
	meaningPending = $state(false);
	/** The text whose hits are shown; empty before the first answer. */
	answered = $state("");
	failure = $state.raw<ApiError | null>(null);
	readonly byMeaning = $derived(this.wantsMeaning && this.canFindMeaning === true);
	/** The groups with hits. */
	readonly groups = $derived.by((): HitGroup[] => {
		const messages = [{ name: "messages" as const, hits: this.hits, more: this.more }, { name: "earlier" as const, ...this.earlier }];
		return [...messages.filter(({ hits }) => hits.length > 0), ...this.items.map(({ kind, items, more }) => ({ name: kind, items, more }))];
	});
	#debounce = new Debounce(120);
	#meaningDebounce = new Debounce(MEANING_PAUSE_MS);
	#asked = 0;

	constructor(
		private readonly api: Api,
		private readonly values: PageValues,
	) {
		this.wantsMeaning = values.get(KEY) !== "off";
	}

	/** Opens the search, with the last text. */
	open(chat: ChatId | null): void {
		this.shown = true;
		if (this.chat !== chat) [this.chat, this.only] = [chat, null];
		void this.run();
	}

	/** Opens the search over all chats with a text. */
	find(text: string): void {
		[this.query, this.chat, this.shown, this.only] = [text.trim(), null, true, null];
		void this.run();
	}

	close = (): void => {
		this.shown = false;
		this.#cancel();
	};

	type(text: string): void {
		this.#cancel();
		this.query = text;
		this.#debounce.run(() => void this.run());
	}

	setChat(chat: ChatId | null): void {
		this.chat = chat;
		void this.run();
	}

	setMeaning(on: boolean): void {
		this.wantsMeaning = on;
		this.values.set(KEY, on ? "on" : "off");
		void this.run();
	}

	/** Searches for the text from the start. An answer to an older text is ignored. Hits by meaning follow those by words. */
	async run(): Promise<void> {
		this.#cancel();
		const asked = this.#asked;
		const text = this.query.trim();
		const found = await this.#load(asked, () => this.api.search(text, this.chat, false));
		if (!found) return;
		this.#show(text, found);
		if (text === "" || !this.byMeaning) return;
		this.meaningPending = true;
		this.#meaningDebounce.run(() => void this.#addMeaning(asked, text));
	}

	/** Loads the next page of messages. */
	async loadMore(): Promise<void> {
		if (!this.more) return;
		const [words, meaning] = [this.hits.filter((hit) => !hit.byMeaning), this.hits.filter((hit) => hit.byMeaning)];
		const page = await this.#load(this.#asked, () => this.api.searchMessages(this.answered, this.chat, words.length));
		if (!page) return;
		const known = setOf(page.hits.map(({ swipe }) => swipe));
		[this.hits, this.more] = [[...words, ...page.hits, ...meaning.filter(({ swipe }) => !known.has(swipe))], page.more];
	}

	async #addMeaning(asked: number, text: string): Promise<void> {
		const found = await this.#load(asked, () => this.api.search(text, this.chat, true));
		if (asked === this.#asked) this.meaningPending = false;
		if (found) this.#show(text, found);
	}

	#show(text: string, { messages, earlier, groups, canFindMeaning }: SearchResults): void {
		[this.hits, this.more, this.earlier, this.items, this.canFindMeaning, this.answered] = [messages.hits, messages.more, earlier, groups, canFindMeaning, text];
		if (!this.groups.some(({ name }) => name === this.only)) this.only = null;
	}

	/** Ignores the answers to earlier requests. */
	#cancel(): void {
		this.#debounce.cancel();
		this.#meaningDebounce.cancel();
		this.#asked += 1;
		this.meaningPending = false;
	}

	/** The answer, unless it failed or is outdated. */
	async #load<T>(asked: number, call: () => Promise<T>): Promise<T | null> {
		try {
			const answer = await call();
			if (asked !== this.#asked) return null;
			this.failure = null;
			return answer;
		} catch (thrown) {
			if (asked === this.#asked) this.failure = asApiError(thrown);
			return null;
		}
	}
}

/** The words of a hit, as they are written in its message. Hits by meaning have none. */
export function foundWordsOf({ excerpt }: Pick<SearchHit, "excerpt">): SearchWord[] {
	return excerpt.filter(({ isMatch }) => isMatch).map(({ text }) => ({ text, unfinished: true }));
}
