import { SvelteMap } from "svelte/reactivity";
import { asApiError } from "../../api/errors";
import type { ApiError, CharacterId, Chat, ChatId, Keyframe, Memory, MemoryDraft, MemoryFilter, MemoryImport, MemoryOwner, MemoryStorage, Receipt, SettingOwner } from "../../api/generated";
import type { Api } from "../api";
import { Debounce } from "../debounce";
import { Recall } from "./recall.svelte";
import { receiptsOf } from "./receipts";

/** Callbacks from the memory list to the app. */
export interface MemoryCallbacks {
	failed(error: ApiError): void;
	/** Called after a memory is forgotten; `undo` restores it. */
	forgot(text: string, undo: () => Promise<void>): void;
	/** Called after many memories are forgotten; `undo` restores them. */
	forgotMany(count: number, undo: () => Promise<void>): void;
	/** Called after two memories are merged; `undo` separates them. */
	merged(undo: () => Promise<void>): void;
	/** Called after a file is imported. */
	imported(imported: MemoryImport): void;
	/** Called after memories are archived; `undo` restores them. */
	archived(count: number, undo: () => Promise<void>): void;
}

/** The context of the memory list: a chat, or a character without a chat. */
export interface MemoryContext {
	/** Id of the chat. */
	id: string | null;
	character: CharacterId;
	persona: Chat["persona"];
}

/** Two memories to merge, and the merged text. */
export interface Merging {
	first: Memory;
	second: Memory | null;
	text: string;
}

const ALL: MemoryFilter = { type: null, scope: null, made: null, archived: false };

/** Views of the panel: a list, a timeline, a trial of recall, or the recall of the last turn. */
export const VIEWS = ["list", "timeline", "try", "turn"] as const;
export type View = (typeof VIEWS)[number];

/** The memories of a character, with the messages they came from. */
export class Memories {
	open = $state(false);
	view = $state<View>("list");
	readonly tried: Recall;
	readonly turn: Recall;
	items = $state.raw<Memory[]>([]);
	/** First sentences of chat parts that no model has summarised. They are no memories, so only the unfiltered timeline shows them. */
	keyframes = $state.raw<Keyframe[]>([]);
	/** The engine has more memories than `items`. */
	more = $state(false);
	loaded = $state(false);
	failure = $state.raw<ApiError | null>(null);
	query = $state("");
	filter = $state<MemoryFilter>({ ...ALL });
	merging = $state<Merging | null>(null);
	/** Disk usage of all memories of all characters. */
	storage = $state.raw<MemoryStorage | null>(null);
	/** The memory in the form; a new one has an empty id. */
	draft = $state<MemoryDraft | null>(null);
	/** Ids of the lorebooks that a memory can belong to. */
	worlds = $state.raw<string[]>([]);
	saving = $state(false);
	/** Error of the last attempt to save the draft. */
	refused = $state.raw<ApiError | null>(null);
	/** The memory to scroll to. Each request is a new object. */
	target = $state.raw<{ id: string } | null>(null);
	/** Memory is enabled in the chat. */
	on = $state(true);
	/** Whether memory is enabled for this chat, its character and globally; empty until loaded. */
	switches = $state.raw<Partial<Record<SettingOwner["scope"], boolean>>>({});
	/** The receipts (speaker, chat and time) of the source messages, by message id. */
	readonly receipts = new SvelteMap<string, Receipt>();
	/** The target is not in the list, because the memory or its source messages were deleted. */
	readonly missing = $derived(this.loaded && this.query === "" && !this.filtered && this.target !== null && !this.items.some(({ id }) => id === this.target?.id));

	/** Whether a filter is active. */
	get filtered(): boolean {
		return this.filter.type !== null || this.filter.scope !== null || this.filter.made !== null || this.filter.archived === true;
	}

	#of: MemoryContext | null = null;
	/** Order of the memories when first shown, so that pinning or restoring one does not move it. */
	#order: string[] = [];
	#debounce = new Debounce();
	#asked = 0;
	/** The receipts may be outdated. */
	#stale = false;
	/** Number of loaded pages. */
	#pages = 1;

	constructor(
		private readonly api: Api,
		private readonly callbacks: MemoryCallbacks,
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

	setView = (view: View): void => {
		this.view = view;
		this.#askForLastTurn();
		if (view !== "timeline") return;
		// The timeline must not show "nothing" before the keyframes are loaded.
		this.loaded = false;
		void this.load();
	};

	/** Handles the end of a turn. */
	turned(chat: ChatId): void {
		if (this.#of?.id === chat) this.#askForLastTurn();
	}

	/** Loads the recall of the last turn, if its view is open. */
	#askForLastTurn(): void {
		const chat = this.#of?.id;
		if (this.open && this.view === "turn" && chat) void this.turn.last(chat);
	}

	close = (): void => {
		this.open = false;
		this.#debounce.cancel();
		this.#asked++;
		[this.#of, this.draft, this.refused, this.merging, this.target, this.query] = [null, null, null, null, null, ""];
		this.filter = { ...ALL };
	};

	/** Shows the memories for the open chat or character. */
	async follow(of: MemoryContext): Promise<void> {
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
		this.#debounce.run(this.load);
	}

	setFilter(change: Partial<MemoryFilter>): Promise<void> {
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
		this.#debounce.cancel();
		const asked = ++this.#asked;
		const { query } = this;
		try {
			const [{ memories: found, more }, keyframes] = await Promise.all([this.api.findMemories(of.character, query, $state.snapshot(this.filter), this.#pages), this.#readKeyframes(of)]);
			const sources = found.flatMap((memory) => memory.sources);
			const receipts = await receiptsOf(this.api, this.#stale ? sources : sources.filter((source) => !this.receipts.has(source)));
			if (asked !== this.#asked) return;
			if (this.#stale) this.receipts.clear();
			this.#stale = false;
			for (const receipt of receipts) this.receipts.set(receipt.message, receipt);
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

	/** Handles a change of memories by this list or by the chat. */
	async changed(): Promise<void> {
		this.#stale = true;
		if (this.open) await this.load();
	}

	/** Loads whether memory is enabled in the chat. */
	async readSwitch(): Promise<void> {
		const chat = this.#of?.id;
		if (!chat) return;
		const all = await this.api.layeredSettings({ scope: "chat", id: chat }).catch(() => null);
		this.on = all?.settings.find(({ key }) => key === "memory")?.value !== false;
	}

	/** Loads whether memory is enabled for each owner, by scope. */
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
		// Keeps the owner ids, so that changing the scope back and forth loses nothing.
		this.draft = { id, type, text, importance, pinned, scope, character: memory.character ?? of.character, persona: memory.persona ?? of.persona.id, chat: memory.chat ?? of.id, world: memory.world };
	}

	cancelDraft = (): void => {
		[this.draft, this.refused] = [null, null];
	};

	/** Saves the draft and returns the stored memory; `null` if it was rejected. */
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
			// Clears the target, because the user knows that it is gone.
			if (this.target?.id === memory.id) this.target = null;
			if (this.draft?.id === memory.id) this.cancelDraft();
			this.callbacks.forgot(memory.text, () => this.api.restoreMemory(memory.id));
		});
	}

	/** Selects the first memory to merge, or the second if there is a first. */
	mergeFrom(memory: Memory): void {
		this.cancelDraft();
		const first = this.merging?.first;
		if (first?.id === memory.id) this.merging = null;
		else if (!first) this.merging = { first: memory, second: null, text: "" };
		else this.merging = { first, second: memory, text: `${first.text}\n${memory.text}` };
	}

	stopMerging = (): void => {
		this.merging = null;
	};

	/** Merges the two memories and returns the result; `null` if it was rejected. */
	async merge(): Promise<Memory | null> {
		const { first, second, text } = this.merging ?? {};
		if (!first || !second || !text?.trim() || this.saving) return null;
		[this.saving, this.refused] = [true, null];
		try {
			const merged = await this.api.mergeMemories(first.id, second.id, text);
			this.#order = this.#order.flatMap((id) => (id === first.id ? [merged.id] : id === second.id ? [] : [id]));
			this.merging = null;
			await this.load();
			this.callbacks.merged(() => this.api.unmergeMemories(merged.id, [first.id, second.id]));
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
			this.callbacks.forgotMany(forgotten.length, () => this.api.restoreMemories(forgotten));
		});
	}

	/** Imports a file of memories. */
	async importFile(file: File): Promise<void> {
		const of = this.#of;
		if (!of) return;
		await this.#do(async () => {
			const imported = await this.api.importMemories(of.character, await file.text());
			await this.load();
			this.callbacks.imported(imported);
		});
	}

	/** Compares all memories with each other, and merges or archives those that are redundant. */
	consolidate = async (): Promise<void> => {
		await this.#do(async () => {
			const { merged, superseded, retired, crowded } = await this.api.consolidateMemories();
			const ids = [merged, superseded, retired, crowded].flat().map(({ id }) => id);
			await this.load();
			this.callbacks.archived(ids.length, () => this.api.unarchiveMemories(ids));
		});
	};

	/** Restores a memory from the archive. */
	async unarchive(memory: Memory): Promise<void> {
		await this.#do(async () => {
			await this.api.unarchiveMemories([memory.id]);
			await this.load();
		});
	}

	async #readKeyframes({ character }: MemoryContext): Promise<Keyframe[]> {
		const everything = this.view === "timeline" && this.query.trim() === "" && !this.filtered;
		return everything ? this.api.keyframes(character) : [];
	}

	async #readWorlds({ id, character, persona }: MemoryContext): Promise<void> {
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
			this.callbacks.failed(asApiError(thrown));
		}
	}
}
