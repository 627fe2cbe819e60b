import type { PromptBlock, RenderedSection } from "../../api/generated";

/** A part of the prompt as the template's preview tells it. */
export type PreviewPart =
	| { kind: "section"; block: PromptBlock; section: string }
	| { kind: "block"; block: PromptBlock }
	/** Messages of the window, one after the other. */
	| { kind: "messages"; id: string; count: number; tokens: number; first: string; last: string };

/** What a prompt is made of, top to bottom: the template's own sections by name, runs of messages as one. */
export function previewParts(blocks: PromptBlock[], sections: RenderedSection[]): PreviewPart[] {
	const parts: PreviewPart[] = [];
	for (const block of blocks.filter(({ kept }) => kept)) {
		const section = sections.find(({ text }) => text === block.text);
		const before = parts.at(-1);
		if (section) parts.push({ kind: "section", block, section: section.name });
		else if (block.kind !== "message") parts.push({ kind: "block", block });
		else if (before?.kind === "messages") Object.assign(before, { count: before.count + 1, tokens: before.tokens + block.tokens, last: block.text });
		else parts.push({ kind: "messages", id: block.id, count: 1, tokens: block.tokens, first: block.text, last: block.text });
	}
	return parts;
}
