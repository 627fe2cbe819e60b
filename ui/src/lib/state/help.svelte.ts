import { asApiError } from "../api/errors";
import type { ApiError } from "../api/generated";
import { PAGES, parsePage, placeOf, type HelpPage, type PageName, type Topic } from "../help/pages";

const files = import.meta.glob<string>("../../../help/*/*.md", { query: "?raw", import: "default" });

export interface HelpPlace {
	page: PageName;
	/** Id of a heading; empty for the start of the page. */
	heading: string;
	/** Whether the heading takes the focus. */
	focus: boolean;
}

/** State of the help, which lies over the window and leaves everything below as it is. */
export class Help {
	shown = $state(false);
	/** The open page. `null` shows only the list, in a narrow window. Each visit is a new object. */
	place = $state.raw<HelpPlace | null>(null);
	query = $state("");
	pages = $state.raw<HelpPage[]>([]);
	failure = $state.raw<ApiError | null>(null);
	/** The places before the open one. */
	past = $state.raw<HelpPlace[]>([]);
	#language = "";

	readonly page = $derived(this.pages.find(({ name }) => name === this.place?.page) ?? null);

	/** Opens the help at a topic. */
	open(topic: Topic): void {
		if (this.shown) return this.follow(topic);
		[this.shown, this.query, this.past] = [true, "", []];
		const place = placeOf(topic);
		this.place = { ...place, focus: place.heading !== "" };
	}

	/** Opens another topic and adds the current one to the history. */
	follow = (topic: Topic, focus = true): void => {
		if (this.place) this.past = [...this.past, this.place];
		this.place = { ...placeOf(topic), focus };
	};

	back = (): void => {
		const last = this.past.at(-1);
		if (!last) return;
		this.past = this.past.slice(0, -1);
		this.place = { ...last, focus: true };
	};

	/** Shows the list of pages in a narrow window. */
	list = (): void => {
		this.place = null;
	};

	close = (): void => {
		this.shown = false;
	};

	/** Loads the pages in a language, or in English where a translation is missing. */
	async load(language: string): Promise<void> {
		if (this.#language === language && this.failure === null && this.pages.length > 0) return;
		this.#language = language;
		this.failure = null;
		try {
			const pages = await Promise.all(PAGES.map(async (name) => parsePage(name, await read(language, name))));
			if (this.#language === language) this.pages = pages;
		} catch (thrown) {
			this.failure = asApiError(thrown);
		}
	}
}

function read(language: string, page: PageName): Promise<string> {
	const path = (folder: string) => `../../../help/${folder}/${page}.md`;
	const load = files[path(language)] ?? files[path("en")];
	return load ? load() : Promise.reject(new Error(`The help page ${page} is missing.`));
}
