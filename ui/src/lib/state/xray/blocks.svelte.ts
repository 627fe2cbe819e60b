import { SvelteSet } from "svelte/reactivity";
import type { PromptBlock } from "../../api/generated";

/** What became of a block. */
export const FATES = ["all", "kept", "reread", "leftOut"] as const;
export type Fate = (typeof FATES)[number];

export interface KindCount {
	kind: string;
	count: number;
}

/** The blocks of one prompt, narrowed to those the reader asks for. Their order is the prompt's. */
export class BlockList {
	query = $state("");
	fate = $state<Fate>("all");
	/** Kinds to show; none chosen shows all. */
	readonly kinds = new SvelteSet<string>();
	/** Blocks that are open to their text. */
	readonly opened = new SvelteSet<string>();

	readonly #all: PromptBlock[] = $derived.by(() => this.blocks());
	readonly count: Record<Fate, number> = $derived.by(() => counted(this.#all));
	readonly found: KindCount[] = $derived.by(() => kindsOf(this.#all));
	readonly shown: PromptBlock[] = $derived.by(() => {
		const words = this.query.trim().toLocaleLowerCase();
		return this.#all.filter((block) => meets(block, this.fate) && this.#ofKind(block) && says(block, words));
	});

	constructor(private readonly blocks: () => PromptBlock[]) {}

	toggleKind(kind: string): void {
		toggle(this.kinds, kind);
	}

	toggleOpen(id: string): void {
		toggle(this.opened, id);
	}

	/** Another prompt: what was asked of the last one no longer holds. */
	reset(): void {
		[this.query, this.fate] = ["", "all"];
		this.kinds.clear();
		this.opened.clear();
	}

	// A kind that the prompt at hand lacks would hide all of it, without a chip to take it back.
	#ofKind(block: PromptBlock): boolean {
		return !this.found.some(({ kind }) => this.kinds.has(kind)) || this.kinds.has(block.kind);
	}
}

function meets(block: PromptBlock, fate: Fate): boolean {
	switch (fate) {
		case "all":
			return true;
		case "kept":
			return block.kept;
		case "reread":
			return block.kept && !block.reused;
		case "leftOut":
			return !block.kept;
	}
}

function says({ source, reason, droppedReason, text, sourceText }: PromptBlock, words: string): boolean {
	return words === "" || [source, reason, droppedReason ?? "", text, sourceText ?? ""].join("\n").toLocaleLowerCase().includes(words);
}

function counted(blocks: PromptBlock[]): Record<Fate, number> {
	const count = (fate: Fate) => blocks.filter((block) => meets(block, fate)).length;
	return { all: blocks.length, kept: count("kept"), reread: count("reread"), leftOut: count("leftOut") };
}

function kindsOf(blocks: PromptBlock[]): KindCount[] {
	const kinds = blocks.map(({ kind }) => kind);
	const firsts = kinds.filter((kind, at) => kinds.indexOf(kind) === at);
	return firsts.map((kind) => ({ kind, count: kinds.filter((other) => other === kind).length }));
}

function toggle<T>(set: Set<T>, item: T): void {
	if (!set.delete(item)) set.add(item);
}
