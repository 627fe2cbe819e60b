import { SvelteMap } from "svelte/reactivity";
import type { ApiError, LorebookFormat, LorebookSummary } from "../../api/generated";
import { finder } from "../../text/fold";
import type { Api } from "../api";
import { attempt } from "../attempt";
import { Book } from "./book.svelte";
import { LoreTest } from "./loreTest.svelte";

export type BookTab = "entries" | "about" | "try";

/** State of all lorebooks, stand-alone and embedded in cards, and of the open one. */
export class Books {
	all = $state.raw<LorebookSummary[]>([]);
	loaded = $state(false);
	failure = $state.raw<ApiError | null>(null);
	query = $state("");
	tab = $state<BookTab>("entries");
	book = $state.raw<Book | null>(null);
	readonly test: LoreTest;
	/** Books opened so far. They keep their unsaved drafts. */
	readonly #known = new SvelteMap<string, Book>();
	readonly #shown = $derived.by(() => {
		const fits = finder(this.query);
		return this.all.filter(({ name, characterName, description }) => fits(`${name}\n${characterName}\n${description}`));
	});
	readonly own = $derived(this.#shown.filter(({ character }) => character === null));
	readonly ofCards = $derived(this.#shown.filter(({ character }) => character !== null));

	constructor(private readonly api: Api) {
		this.test = new LoreTest(api);
	}

	load = (): Promise<boolean> =>
		attempt(this, async () => {
			this.all = await this.api.listLorebooks();
			this.loaded = true;
		});

	/** Handles a change of lorebooks, which this page may have caused itself. */
	async changed(id: string | null): Promise<void> {
		if (!this.loaded) return;
		const open = this.book;
		await Promise.all([this.load(), open && (id === null || id === open.id) ? open.load() : undefined]);
	}

	isUnsaved = (id: string): boolean => this.#known.get(id)?.unsaved ?? false;

	/** Opens a book, and the given entry in it. */
	async open(id: string, entry: string | null = null): Promise<void> {
		const book = this.#known.get(id) ?? new Book(this.api, id);
		this.#known.set(id, book);
		if (this.book !== book) book.close();
		this.book = book;
		await book.load();
		if (entry === null) return;
		this.tab = "entries";
		book.open(entry);
	}

	close = (): void => {
		this.book = null;
	};

	create = (name: string): Promise<boolean> =>
		attempt(this, async () => {
			const { about } = await this.api.createLorebook(name);
			await this.load();
			this.tab = "entries";
			await this.open(about.id);
		});

	/** Copies a book and opens the copy. */
	duplicate = (id: string): Promise<boolean> =>
		attempt(this, async () => {
			const { about } = await this.api.duplicateLorebook(id);
			await this.load();
			await this.open(about.id);
		});

	remove = (id: string): Promise<boolean> =>
		attempt(this, async () => {
			await this.api.deleteLorebook(id);
			this.#known.delete(id);
			if (this.book?.id === id) this.close();
			await this.load();
		});

	restore = async (id: string): Promise<void> => {
		await this.api.restoreLorebook(id);
		await this.load();
		await this.open(id);
	};

	export = (id: string, format: LorebookFormat): Promise<string | null> => this.api.shell.exportLorebook(id, format);
}
