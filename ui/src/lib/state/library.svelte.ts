import type { CharacterId, CharacterSummary, ChatSummary, Folder } from "../api/generated";
import type { Api } from "./api";
import { counted, entry, inOrder, type Sort } from "./cards";
import { folded, hasAll, mapOf, setOf, wordsOf } from "./find";
import { FolderedList } from "./folderedList.svelte";
import { Debounce } from "./debounce";
import type { PageValues } from "./pageValues";

export type View = "grid" | "list";
/** Whether a card needs one of the chosen tags or all of them. */
export type Match = "any" | "all";

const KEY = "inglenook.library";
/** Minimum length of a full-text query. Shorter ones occur in nearly every description. */
const SHORTEST = 2;

/** State of the library: search, filters, sort order and selection. */
export class Library {
	all = $state.raw<CharacterSummary[]>([]);
	loaded = $state(false);
	/** Shows only favourites. */
	favourites = $state(false);
	/** Chosen tags, in the spelling of the cards. */
	tags = $state.raw<readonly string[]>([]);
	sort = $state<Sort>("recent");
	view = $state<View>("grid");
	match = $state<Match>("all");
	readonly filtered = $derived.by(() => this.query.trim() !== "" || this.favourites || this.tags.length > 0);

	#query = $state("");
	/** Ids of cards whose descriptions match `query`. Only the engine has the descriptions. */
	#deep = $state.raw({ query: "", ids: setOf<string>() });
	readonly #entries = $derived(this.all.map(entry));
	readonly #sorted = $derived(inOrder(this.#entries, this.sort));
	/** Cards that match the query and the favourites filter, before the tag filter. */
	readonly #found = $derived.by(() => {
		const words = wordsOf(this.#query);
		const deep = this.#deep.query === this.#query.trim() ? this.#deep.ids : setOf<string>();
		return this.#sorted.filter(({ card, hay }) => (!this.favourites || card.favourite) && (hasAll(words, hay) || deep.has(card.id)));
	});
	readonly #tagged = $derived.by(() => {
		const wanted = this.tags.map(folded);
		if (wanted.length === 0) return this.#found;
		const fits = this.match === "all" ? (tags: readonly string[]) => wanted.every((tag) => tags.includes(tag)) : (tags: readonly string[]) => wanted.some((tag) => tags.includes(tag));
		return this.#found.filter(({ tags }) => fits(tags));
	});
	readonly shown = $derived(this.#tagged.map(({ card }) => card));
	/** Tags of the found cards, the most frequent first. With "all", only tags that narrow the result further. */
	readonly tagCounts = $derived.by(() => counted(this.match === "all" ? this.#tagged : this.#found));
	/** The found cards are shown without folders. */
	readonly list = new FolderedList<CharacterSummary>({ items: () => this.shown, folders: () => (this.filtered ? [] : this.folders()), tagsOf: ({ tags }) => tags });
	readonly #debounce = new Debounce(120);
	readonly #byId = $derived(mapOf(this.all.map((card) => [card.id, card] as const)));
	#loading: Promise<void> | null = null;
	#again = false;

	constructor(
		private readonly api: Api,
		private readonly values: PageValues,
		private readonly folders: () => readonly Folder[] = () => [],
	) {
		Object.assign(this, stored(values));
	}

	get query(): string {
		return this.#query;
	}

	set query(query: string) {
		this.#query = query;
		const typed = query.trim();
		if (typed.length < SHORTEST) this.#debounce.cancel();
		else this.#debounce.run(() => this.#search(typed));
	}

	/** Loads the cards. Calls during a load, as in a folder import, are merged into one more load. */
	load(): Promise<void> {
		if (this.#loading) {
			this.#again = true;
			return this.#loading;
		}
		this.#loading = this.#read().finally(() => (this.#loading = null));
		return this.#loading;
	}

	set(change: Partial<{ sort: Sort; view: View; match: Match }>): void {
		Object.assign(this, change);
		const { sort, view, match } = this;
		this.values.set(KEY, JSON.stringify({ sort, view, match }));
	}

	toggleTag(tag: string): void {
		const key = folded(tag);
		const without = this.tags.filter((known) => folded(known) !== key);
		this.tags = without.length < this.tags.length ? without : [...this.tags, tag];
	}

	clear(): void {
		this.query = "";
		[this.favourites, this.tags] = [false, []];
	}

	tagsOf(id: string): readonly string[] {
		return this.#byId.get(id)?.tags ?? [];
	}

	picture(id: string): string | null {
		return this.#byId.get(id)?.picture ?? null;
	}

	async #read(): Promise<void> {
		do {
			this.#again = false;
			this.all = await this.api.listCharacters();
			this.list.keep(this.all);
			this.loaded = true;
		} while (this.#again);
	}

	async #search(query: string): Promise<void> {
		try {
			const ids = await this.api.findCharacters(query);
			if (this.#query.trim() === query) this.#deep = { query, ids: setOf(ids) };
		} catch {
			// The matches without descriptions stay on screen.
		}
	}
}

function stored(values: PageValues): Partial<{ sort: Sort; view: View; match: Match }> {
	try {
		return JSON.parse(values.get(KEY) ?? "{}") as object;
	} catch {
		return {};
	}
}

export const CHAT_SORTS = ["recent", "name", "added"] as const;
export type ChatSort = (typeof CHAT_SORTS)[number];

const CHATS_KEY = "inglenook.chats";

/** The chats, newest first. */
export class Chats {
	all = $state.raw<ChatSummary[]>([]);
	loaded = $state(false);
	query = $state("");
	/** Shows the archived chats instead of the list. */
	archive = $state(false);
	sort = $state<ChatSort>("recent");
	readonly #sorted = $derived(sortedChats(this.all, this.sort));
	readonly #hays = $derived(this.#sorted.map((chat) => ({ chat, hay: folded(`${chat.title}\n${chat.characterName}\n${chat.lastLine}`) })));
	/** A search finds archived chats too. */
	readonly shown = $derived.by(() => {
		const words = wordsOf(this.query);
		const found = this.#hays.filter(({ hay }) => hasAll(words, hay)).map(({ chat }) => chat);
		return words.length > 0 ? found : found.filter(({ place }) => place.archived === this.archive);
	});
	readonly archived = $derived(this.all.filter(({ place }) => place.archived).length);
	/** Search results and archived chats are shown without folders. */
	readonly list = new FolderedList<ChatSummary>({
		items: () => this.shown,
		folders: () => (this.archive || this.query.trim() !== "" ? [] : this.folders()),
		tagsOf: ({ character }) => this.tagsOf(character),
	});

	constructor(
		private readonly api: Api,
		private readonly values: PageValues,
		private readonly folders: () => readonly Folder[] = () => [],
		private readonly tagsOf: (character: CharacterId) => readonly string[] = () => [],
	) {
		this.sort = storedSort(values);
	}

	/** Shows the archived chats, or the list again. */
	showArchive(archive: boolean): void {
		this.list.stopSelecting();
		this.archive = archive;
	}

	sortBy(sort: ChatSort): void {
		this.sort = sort;
		this.values.set(CHATS_KEY, JSON.stringify({ sort }));
	}

	async load(): Promise<void> {
		this.all = await this.api.listChats();
		this.list.keep(this.all);
		this.loaded = true;
	}

	newestOf(character: CharacterId): ChatSummary | undefined {
		return this.all.find((chat) => chat.character === character);
	}
}

function storedSort(values: PageValues): ChatSort {
	try {
		const { sort } = JSON.parse(values.get(CHATS_KEY) ?? "{}") as { sort?: unknown };
		return CHAT_SORTS.find((known) => known === sort) ?? "recent";
	} catch {
		return "recent";
	}
}

/** Sorts the chats. The engine already returns them by their last change. */
function sortedChats(chats: readonly ChatSummary[], sort: ChatSort): readonly ChatSummary[] {
	const { compare } = new Intl.Collator(undefined, { sensitivity: "base", numeric: true });
	if (sort === "name") return chats.toSorted((one, other) => compare(one.title || one.characterName, other.title || other.characterName));
	if (sort === "added") return chats.toSorted((one, other) => (one.created < other.created ? 1 : one.created > other.created ? -1 : 0));
	return chats;
}
