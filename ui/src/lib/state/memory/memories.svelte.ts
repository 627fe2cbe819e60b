import { SvelteMap } from "svelte/reactivity";
import { asApiError } from "../../api/errors";
import type { ApiError, Chat, Memory, MemoryDraft, Receipt } from "../../api/generated";
import type { Api } from "../api";
import { Later } from "../later";
import { Recall } from "./recall.svelte";

/** What the list needs from the window around it. */
export interface Surroundings {
	failed(error: ApiError): void;
	/** A memory is forgotten; `undo` brings it back. */
	forgot(text: string, undo: () => Promise<void>): void;
}

/** Whose memories are shown. */
export type Of = Pick<Chat, "id" | "character" | "persona">;

/** What is looked at: the memories, what would come back, or what came back in the last turn. */
export const VIEWS = ["list", "try", "turn"] as const;
export type View = (typeof VIEWS)[number];

/** What is remembered for the character of a chat, each with the words it was made from. */
export class Memories {
	open = $state(false);
	view = $state<View>("list");
	readonly tried: Recall;
	readonly turn: Recall;
	items = $state.raw<Memory[]>([]);
	loaded = $state(false);
	failure = $state.raw<ApiError | null>(null);
	query = $state("");
	/** The memory being written or changed; a new one has no id. */
	draft = $state<MemoryDraft | null>(null);
	saving = $state(false);
	/** Why the draft was refused. */
	refused = $state.raw<ApiError | null>(null);
	/** The memory to bring into view; a new object for each asking. */
	target = $state.raw<{ id: string } | null>(null);
	/** Memory works in the chat. */
	on = $state(true);
	/** By the ids of their messages. */
	readonly receipts = new SvelteMap<string, Receipt>();
	/** The target is not on the list: it has been forgotten, or its words are gone. */
	readonly missing = $derived(this.loaded && this.query === "" && this.target !== null && !this.items.some(({ id }) => id === this.target?.id));

	#of: Of | null = null;
	/** Where each memory stood first, so that what is pinned or brought back does not jump under the reader. */
	#order: string[] = [];
	#later = new Later();
	#asked = 0;

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
		if (memory !== null) [this.query, this.view] = ["", "list"];
	}

	look = (view: View): void => {
		this.view = view;
	};

	/** A turn has ended. */
	turned(chat: string): void {
		if (this.open && this.view === "turn" && this.#of?.id === chat) void this.turn.last(chat);
	}

	close = (): void => {
		this.open = false;
		this.#later.cancel();
		this.#asked++;
		[this.#of, this.draft, this.refused, this.target, this.query] = [null, null, null, null, ""];
	};

	/** The chat beside the list. */
	async follow(of: Of): Promise<void> {
		if (this.#of?.character !== of.character) {
			[this.items, this.loaded, this.failure, this.draft, this.#order] = [[], false, null, null, []];
			this.receipts.clear();
		}
		if (this.#of?.id !== of.id) {
			this.tried.clear();
			this.turn.clear();
		}
		this.#of = of;
		await this.load();
	}

	search(query: string): void {
		this.query = query;
		this.#later.run(this.load);
	}

	load = async (): Promise<void> => {
		const of = this.#of;
		if (!of) return;
		this.#later.cancel();
		const asked = ++this.#asked;
		const { query } = this;
		try {
			const found = await this.api.listMemories(of.character, query);
			const sources = found.flatMap((memory) => memory.sources);
			const said = await this.api.receipts(sources.filter((source, at) => sources.indexOf(source) === at));
			if (asked !== this.#asked) return;
			for (const receipt of said) this.receipts.set(receipt.message, receipt);
			this.items = query.trim() === "" ? this.#inPlace(found) : found;
			this.failure = null;
		} catch (thrown) {
			if (asked !== this.#asked) return;
			[this.items, this.failure] = [[], asApiError(thrown)];
		}
		this.loaded = true;
	};

	/** Something was remembered, changed or forgotten, here or in the chat. */
	async changed(): Promise<void> {
		if (this.open) await this.load();
	}

	/** Whether the chat recalls and learns at all. */
	async readSwitch(): Promise<void> {
		const of = this.#of;
		if (!of) return;
		const all = await this.api.layeredSettings({ scope: "chat", id: of.id }).catch(() => null);
		this.on = all?.settings.find(({ key }) => key === "memory")?.value !== false;
	}

	write(): void {
		const of = this.#of;
		if (!of) return;
		this.refused = null;
		this.draft = { id: "", type: "fact", text: "", importance: 5, pinned: false, scope: "pair", character: of.character, persona: of.persona.id, chat: of.id };
	}

	edit(memory: Memory): void {
		const of = this.#of;
		if (!of) return;
		this.refused = null;
		const { id, type, text, importance, pinned, scope } = memory;
		// Whom it is of stays, whichever scope is chosen and given up again.
		this.draft = { id, type, text, importance, pinned, scope, character: memory.character ?? of.character, persona: memory.persona ?? of.persona.id, chat: memory.chat ?? of.id };
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
