import { SvelteMap } from "svelte/reactivity";
import { asApiError } from "../../api/errors";
import type { ApiError, Chat, Keyframe, Memory, MemoryDraft, MemoryFilter, MemoryImport, MemoryOwner, MemoryStorage, Receipt, SettingOwner } from "../../api/generated";
import type { Api } from "../api";
import { Later } from "../later";
import { Recall } from "./recall.svelte";
import { receiptsOf } from "./receipts";

/** What the list needs from the window around it. */
export interface Surroundings {
	failed(error: ApiError): void;
	/** A memory is forgotten; `undo` brings it back. */
	forgot(text: string, undo: () => Promise<void>): void;
	/** Many are forgotten at once; `undo` brings them back. */
	forgotMany(count: number, undo: () => Promise<void>): void;
	/** Two have become one; `undo` makes them two again. */
	merged(undo: () => Promise<void>): void;
	/** A file was read. */
	took(imported: MemoryImport): void;
	/** So many went into the archive; `undo` brings them back. */
	archived(count: number, undo: () => Promise<void>): void;
}

/** Whose memories are shown: seen from a chat, or from a character alone. */
export interface Of {
	/** The chat. */
	id: string | null;
	character: string;
	persona: Chat["persona"];
}

/** Two memories that are to become one. */
export interface Merging {
	first: Memory;
	second: Memory | null;
	text: string;
}

const ALL: MemoryFilter = { type: null, scope: null, made: null, archived: false };

/** What is looked at: the memories as a list or by their dates, what would come back, or what came back in the last turn. */
export const VIEWS = ["list", "timeline", "try", "turn"] as const;
export type View = (typeof VIEWS)[number];

/** What is remembered for the character of a chat, each with the words it was made from. */
export class Memories {
	open = $state(false);
	view = $state<View>("list");
	readonly tried: Recall;
	readonly turn: Recall;
	items = $state.raw<Memory[]>([]);
	/** What no model has summed up; no memories, so they are told in the timeline alone, and where it tells everything. */
	keyframes = $state.raw<Keyframe[]>([]);
	/** There are more than these. */
	more = $state(false);
	loaded = $state(false);
	failure = $state.raw<ApiError | null>(null);
	query = $state("");
	filter = $state<MemoryFilter>({ ...ALL });
	merging = $state<Merging | null>(null);
	/** What everything that is remembered takes, of all characters. */
	storage = $state.raw<MemoryStorage | null>(null);
	/** The memory being written or changed; a new one has no id. */
	draft = $state<MemoryDraft | null>(null);
	/** The lorebooks that a memory may belong to there, by their ids. */
	worlds = $state.raw<string[]>([]);
	saving = $state(false);
	/** Why the draft was refused. */
	refused = $state.raw<ApiError | null>(null);
	/** The memory to bring into view; a new object for each asking. */
	target = $state.raw<{ id: string } | null>(null);
	/** Memory works in the chat. */
	on = $state(true);
	/** The same for this chat, its character and everywhere, once it was asked for. */
	switches = $state.raw<Partial<Record<SettingOwner["scope"], boolean>>>({});
	/** By the ids of their messages. */
	readonly receipts = new SvelteMap<string, Receipt>();
	/** The target is not on the list: it has been forgotten, or its words are gone. */
	readonly missing = $derived(this.loaded && this.query === "" && !this.narrowed && this.target !== null && !this.items.some(({ id }) => id === this.target?.id));

	/** Some memories are left out of the list. */
	get narrowed(): boolean {
		return this.filter.type !== null || this.filter.scope !== null || this.filter.made !== null || this.filter.archived === true;
	}

	#of: Of | null = null;
	/** Where each memory stood first, so that what is pinned or brought back does not jump under the reader. */
	#order: string[] = [];
	#later = new Later();
	#asked = 0;
	/** What the receipts were read from may have changed since. */
	#stale = false;
	/** How much of a long list is looked at. */
	#pages = 1;

	constructor(
		private readonly api: Api,
		private readonly around: Surroundings,
	) {
		this.tried = new Recall(api);
		this.turn = new Recall(api);
	}

	show(memory: string | null): void {
		this.open = true;
		this.target = memory === null ? null : { id: memory };
		if (memory === null) return;
		[this.query, this.view] = ["", "list"];
		this.filter = { ...ALL };
	}

	look = (view: View): void => {
		this.view = view;
		this.#askForLastTurn();
		if (view !== "timeline") return;
		// Before the keyframes are read, nobody knows that there is nothing to tell.
		this.loaded = false;
		void this.load();
	};

	/** A turn has ended. */
	turned(chat: string): void {
		if (this.#of?.id === chat) this.#askForLastTurn();
	}

	/** Where it is looked at. */
	#askForLastTurn(): void {
		const chat = this.#of?.id;
		if (this.open && this.view === "turn" && chat) void this.turn.last(chat);
	}

	close = (): void => {
		this.open = false;
		this.#later.cancel();
		this.#asked++;
		[this.#of, this.draft, this.refused, this.merging, this.target, this.query] = [null, null, null, null, null, ""];
		this.filter = { ...ALL };
	};

	/** The chat beside the list. */
	async follow(of: Of): Promise<void> {
		if (this.#of?.character !== of.character) {
			[this.items, this.keyframes, this.more, this.loaded, this.failure, this.draft, this.merging, this.#order, this.#pages] = [[], [], false, false, null, null, null, [], 1];
		}
		const another = this.#of?.id !== of.id;
		[this.#of, this.#stale] = [of, true];
		if (another) {
			this.tried.clear();
			this.turn.clear();
			this.#askForLastTurn();
		}
		await this.load();
	}

	search(query: string): void {
		[this.query, this.#pages] = [query, 1];
		this.#later.run(this.load);
	}

	narrow(change: Partial<MemoryFilter>): Promise<void> {
		[this.filter, this.#pages] = [{ ...this.filter, ...change }, 1];
		return this.load();
	}

	showMore = (): Promise<void> => {
		this.#pages += 1;
		return this.load();
	};

	load = async (): Promise<void> => {
		const of = this.#of;
		if (!of) return;
		this.#later.cancel();
		const asked = ++this.#asked;
		const { query } = this;
		try {
			const [{ memories: found, more }, keyframes] = await Promise.all([this.api.findMemories(of.character, query, $state.snapshot(this.filter), this.#pages), this.#readKeyframes(of)]);
			const sources = found.flatMap((memory) => memory.sources);
			const said = await receiptsOf(this.api, this.#stale ? sources : sources.filter((source) => !this.receipts.has(source)));
			if (asked !== this.#asked) return;
			if (this.#stale) this.receipts.clear();
			this.#stale = false;
			for (const receipt of said) this.receipts.set(receipt.message, receipt);
			this.items = query.trim() === "" ? this.#inPlace(found) : found;
			[this.keyframes, this.more, this.failure] = [keyframes, more, null];
		} catch (thrown) {
			if (asked !== this.#asked) return;
			[this.items, this.keyframes, this.more, this.failure] = [[], [], false, asApiError(thrown)];
		}
		this.loaded = true;
	};

	async measure(): Promise<void> {
		this.storage = await this.api.memoryStorage().catch(() => null);
	}

	/** Something was remembered, changed or forgotten, here or in the chat. */
	async changed(): Promise<void> {
		this.#stale = true;
		if (this.open) await this.load();
	}

	/** Whether the chat recalls and learns at all. */
	async readSwitch(): Promise<void> {
		const chat = this.#of?.id;
		if (!chat) return;
		const all = await this.api.layeredSettings({ scope: "chat", id: chat }).catch(() => null);
		this.on = all?.settings.find(({ key }) => key === "memory")?.value !== false;
	}

	/** Whether memory works for each of those owners, by their scopes. */
	async readSwitches(owners: SettingOwner[]): Promise<void> {
		const read = async (owner: SettingOwner) => {
			const all = await this.api.layeredSettings(owner).catch(() => null);
			return [owner.scope, all?.settings.find(({ key }) => key === "memory")?.value !== false] as const;
		};
		this.switches = Object.fromEntries(await Promise.all(owners.map(read)));
	}

	async switchTo(owner: SettingOwner, on: boolean): Promise<void> {
		await this.#do(async () => {
			await this.api.setSetting(owner, "memory", on);
			this.switches = { ...this.switches, [owner.scope]: on };
			await this.readSwitch();
		});
	}

	write(): void {
		const of = this.#of;
		if (!of) return;
		this.refused = null;
		void this.#readWorlds(of);
		this.draft = { id: "", type: this.filter.type ?? "fact", text: "", importance: 5, pinned: false, scope: "pair", character: of.character, persona: of.persona.id, chat: of.id, world: null };
	}

	edit(memory: Memory): void {
		const of = this.#of;
		if (!of) return;
		this.refused = null;
		void this.#readWorlds(of);
		const { id, type, text, importance, pinned, scope } = memory;
		// Whom it is of stays, whichever scope is chosen and given up again.
		this.draft = { id, type, text, importance, pinned, scope, character: memory.character ?? of.character, persona: memory.persona ?? of.persona.id, chat: memory.chat ?? of.id, world: memory.world };
	}

	giveUp = (): void => {
		[this.draft, this.refused] = [null, null];
	};

	/** The stored memory; `null` where it was refused. */
	async save(): Promise<Memory | null> {
		const { draft } = this;
		if (!draft || draft.text.trim() === "" || this.saving) return null;
		[this.saving, this.refused] = [true, null];
		try {
			const saved = await this.api.saveMemory($state.snapshot(draft));
			if (draft.id === "") {
				this.#order.unshift(saved.id);
				this.query = "";
			}
			this.draft = null;
			await this.load();
			return saved;
		} catch (thrown) {
			this.refused = asApiError(thrown);
			return null;
		} finally {
			this.saving = false;
		}
	}

	async pin(memory: Memory): Promise<void> {
		await this.#do(async () => {
			const pinned = await this.api.pinMemory(memory.id, !memory.pinned);
			this.items = this.items.map((known) => (known.id === pinned.id ? { ...pinned, score: known.score } : known));
		});
	}

	async forget(memory: Memory): Promise<void> {
		await this.#do(async () => {
			await this.api.deleteMemory(memory.id);
			this.items = this.items.filter(({ id }) => id !== memory.id);
			// That it is gone is no news to who has forgotten it.
			if (this.target?.id === memory.id) this.target = null;
			if (this.draft?.id === memory.id) this.giveUp();
			this.around.forgot(memory.text, () => this.api.restoreMemory(memory.id));
		});
	}

	/** Takes a memory to be merged; the next one that is chosen is the other. */
	mergeFrom(memory: Memory): void {
		this.giveUp();
		const first = this.merging?.first;
		if (first?.id === memory.id) this.merging = null;
		else if (!first) this.merging = { first: memory, second: null, text: "" };
		else this.merging = { first, second: memory, text: `${first.text}\n${memory.text}` };
	}

	stopMerging = (): void => {
		this.merging = null;
	};

	/** The memory that two have become; `null` where it was refused. */
	async merge(): Promise<Memory | null> {
		const { first, second, text } = this.merging ?? {};
		if (!first || !second || !text?.trim() || this.saving) return null;
		[this.saving, this.refused] = [true, null];
		try {
			const merged = await this.api.mergeMemories(first.id, second.id, text);
			this.#order = this.#order.flatMap((id) => (id === first.id ? [merged.id] : id === second.id ? [] : [id]));
			this.merging = null;
			await this.load();
			this.around.merged(() => this.api.unmergeMemories(merged.id, [first.id, second.id]));
			return merged;
		} catch (thrown) {
			this.refused = asApiError(thrown);
			return null;
		} finally {
			this.saving = false;
		}
	}

	async forgetAll(of: MemoryOwner): Promise<void> {
		await this.#do(async () => {
			const forgotten = await this.api.forgetMemories(of);
			[this.draft, this.merging, this.target] = [null, null, null];
			await this.load();
			this.around.forgotMany(forgotten.length, () => this.api.restoreMemories(forgotten));
		});
	}

	/** Takes in a file that was exported here or elsewhere. */
	async take(file: File): Promise<void> {
		const of = this.#of;
		if (!of) return;
		await this.#do(async () => {
			const imported = await this.api.importMemories(of.character, await file.text());
			await this.load();
			this.around.took(imported);
		});
	}

	/** Holds all memories against each other. */
	consolidate = async (): Promise<void> => {
		await this.#do(async () => {
			const { merged, superseded, retired, crowded } = await this.api.consolidateMemories();
			const ids = [merged, superseded, retired, crowded].flat().map(({ id }) => id);
			await this.load();
			this.around.archived(ids.length, () => this.api.unarchiveMemories(ids));
		});
	};

	/** Takes a memory out of the archive. */
	async bringBack(memory: Memory): Promise<void> {
		await this.#do(async () => {
			await this.api.unarchiveMemories([memory.id]);
			await this.load();
		});
	}

	async #readKeyframes({ character }: Of): Promise<Keyframe[]> {
		const everything = this.view === "timeline" && this.query.trim() === "" && !this.narrowed;
		return everything ? this.api.keyframes(character) : [];
	}

	async #readWorlds({ id, character, persona }: Of): Promise<void> {
		this.worlds = await this.api.memoryWorlds(character, persona.id, id).catch(() => []);
	}

	#inPlace(found: Memory[]): Memory[] {
		const fresh = found.map(({ id }) => id).filter((id) => !this.#order.includes(id));
		this.#order = [...fresh, ...this.#order];
		return this.#order.flatMap((id) => found.find((memory) => memory.id === id) ?? []);
	}

	async #do(action: () => Promise<void>): Promise<void> {
		try {
			await action();
		} catch (thrown) {
			this.around.failed(asApiError(thrown));
		}
	}
}
