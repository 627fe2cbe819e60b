import type { LayeredSetting, SearchHit } from "../api/generated";
import { t } from "../i18n/i18n.svelte";
import type { Api } from "../state/api";
import type { App } from "../state/app.svelte";
import { Debounce } from "../state/debounce";
import { mapOf, setOf } from "../state/find";
import { foundWordsOf } from "../state/messageSearch.svelte";
import type { PageValues } from "../state/pageValues";
import { fuzzy, haystack } from "./fuzzy";
import { ITEM_GROUPS, items, type Item, type ItemGroup } from "./items";

const KEY = "inglenook.palette";
/** Number of used items that come first. */
const RECENT = 20;
/** Lines of a group. */
const LINES = 6;
/** Lines of an empty search: recent items, then chats and actions. */
const FIRST = 8;
const HITS = 5;
/** Only messages are searched for. */
const MESSAGES = ">";

export interface Line extends Item {
	/** Indexes of the matched code points of the name. */
	at: number[];
}

export interface Lines {
	group: ItemGroup | "recent";
	lines: Line[];
}

/** State of the command palette, which finds chats, characters, lorebooks, personas, settings, actions and messages. */
export class Palette {
	shown = $state(false);
	/** The chosen line. */
	at = $state(0);
	#query = $state("");
	#layered = $state.raw<readonly LayeredSetting[]>([]);
	#hits = $state.raw<{ query: string; hits: SearchHit[] }>({ query: "", hits: [] });
	#recent = $state.raw<readonly string[]>([]);
	readonly #debounce = new Debounce(150);
	readonly #words = $derived(this.#query.trim().replace(/^>\s*/, ""));
	readonly #onlyMessages = $derived(this.#query.trim().startsWith(MESSAGES));
	readonly #all = $derived.by(() => (this.shown ? items(this.app, this.#layered) : []));
	readonly groups = $derived.by(() => (this.#words === "" && !this.#onlyMessages ? this.#first() : this.#found()));
	readonly lines = $derived(this.groups.flatMap(({ lines }) => lines));
	readonly chosen = $derived(this.lines[Math.min(this.at, this.lines.length - 1)] ?? null);

	constructor(
		private readonly api: Api,
		private readonly app: App,
	) {
		this.#recent = stored(app.values);
	}

	get query(): string {
		return this.#query;
	}

	open(): void {
		[this.#query, this.at, this.shown] = ["", 0, true];
		void this.app.attempt(() => this.app.books.load());
		void this.app.attempt(async () => (this.#layered = (await this.api.layeredSettings({ scope: "global" })).settings));
	}

	close = (): void => {
		this.shown = false;
		this.#debounce.cancel();
	};

	type(query: string): void {
		[this.#query, this.at] = [query, 0];
		if (this.#words === "") this.#debounce.cancel();
		else this.#debounce.run(() => void this.#search());
	}

	/** Chooses the next or the previous line; after the last comes the first. */
	move(step: number): void {
		const { length } = this.lines;
		if (length > 0) this.at = (Math.min(this.at, length - 1) + step + length) % length;
	}

	/** Runs a line and remembers it as recent. */
	run(line: Line): void {
		this.close();
		if (line.group !== "messages") this.#remember(line.key);
		void this.app.attempt(async () => line.run());
	}

	#first(): Lines[] {
		const byKey = mapOf(this.#all.map((item) => [item.key, item] as const));
		const here = `chat:${this.app.chat?.id ?? ""}`;
		const recent = this.#recent.flatMap((key) => byKey.get(key) ?? []).filter(({ key }) => key !== here).slice(0, FIRST);
		const rest = (group: ItemGroup) => this.#all.filter((item) => item.group === group && !recent.includes(item) && item.key !== here).slice(0, FIRST);
		const groups = [{ group: "recent" as const, lines: recent }, ...(["chats", "actions"] as const).map((group) => ({ group, lines: rest(group) }))];
		return groups.filter(({ lines }) => lines.length > 0).map(({ group, lines }) => ({ group, lines: lines.map((line) => ({ ...line, at: [] })) }));
	}

	#found(): Lines[] {
		const ranked = this.#onlyMessages ? [] : this.#ranked();
		// The group with the best line comes first.
		const order = [...setOf(ranked.map(({ group }) => group))];
		const groups: Lines[] = order.map((group) => ({ group, lines: ranked.filter((line) => line.group === group).slice(0, LINES) }));
		const messages = this.#messages();
		return messages.length > 0 ? [...groups, { group: "messages", lines: messages }] : groups;
	}

	#ranked(): Line[] {
		const recent = mapOf(this.#recent.map((key, index) => [key, 1 - index / RECENT] as const));
		const scored = this.#all.flatMap((item) => {
			const match = fuzzy(this.#words, item.hay);
			const hidden = match || !item.words ? null : fuzzy(this.#words, item.words);
			if (!match && !hidden) return [];
			// A hidden word must occur as written: with letters in order, every long hint would match.
			if (hidden && hidden.score < 2.5 * this.#words.split(/\s+/).length) return [];
			return [{ ...item, at: match?.at ?? [], score: (match?.score ?? (hidden?.score ?? 0) / 4) + (recent.get(item.key) ?? 0) / 2 }];
		});
		const order = (group: ItemGroup) => ITEM_GROUPS.indexOf(group);
		return scored.sort((one, two) => two.score - one.score || order(one.group) - order(two.group));
	}

	/** The messages found last, as long as they fit the text, and a line that opens the full search. */
	#messages(): Line[] {
		const words = this.#words;
		if (words === "") return [];
		const known = this.#hits.query === words ? this.#hits.hits : [];
		const hits = known.map((hit): Line => {
			const name = hit.excerpt.map(({ text }) => text).join("");
			return { key: `message:${hit.chat}/${hit.swipe}`, group: "messages", name, note: from(hit), hay: haystack(""), words: null, at: marked(hit), run: () => this.app.showMessage(hit.chat, hit.message, foundWordsOf(hit)) };
		});
		const all: Line = { key: "search", group: "messages", name: t("search.messages", { query: words }), note: "", hay: haystack(""), words: null, at: [], run: () => this.app.search.find(words) };
		return [...hits, all];
	}

	async #search(): Promise<void> {
		const query = this.#words;
		// The palette is of use without messages too, so a failure is left to the search itself.
		const page = await this.api.searchMessages(query, null, 0).catch(() => null);
		if (page && query === this.#words) this.#hits = { query, hits: page.hits.slice(0, HITS) };
	}

	#remember(key: string): void {
		this.#recent = [key, ...this.#recent.filter((known) => known !== key)].slice(0, RECENT);
		this.app.values.set(KEY, JSON.stringify(this.#recent));
	}
}

/** The author of a found message and its chat. */
const from = ({ name, title, character }: SearchHit): string => [name ?? t("search.you"), title || character].filter(Boolean).join(" · ");

/** Indexes of the code points of an excerpt that the engine marks. */
function marked({ excerpt }: SearchHit): number[] {
	let from = 0;
	return excerpt.flatMap(({ text, isMatch }) => {
		const { length } = [...text];
		const start = from;
		from += length;
		return isMatch ? Array.from({ length }, (_, index) => start + index) : [];
	});
}

function stored(values: PageValues): string[] {
	try {
		const all = JSON.parse(values.get(KEY) ?? "[]") as unknown;
		return Array.isArray(all) ? all.filter((key) => typeof key === "string").slice(0, RECENT) : [];
	} catch {
		return [];
	}
}
