import { expect, test } from "vitest";
import type { LorebookBinding, LorebookSummary } from "../../api/generated";
import type { Of } from "./memories.svelte";
import { worldsOf } from "./worlds";

const MIRA: Of = { id: "evening", character: "mira", persona: { id: "sam", name: "Sam", description: "", instructions: "", picture: null } };

const book = (id: string, binding: LorebookBinding | null, over: Partial<LorebookSummary> = {}): LorebookSummary => ({
	id,
	name: id,
	character: null,
	characterName: "",
	description: "",
	entryCount: 0,
	enabled: true,
	bindings: binding ? [binding] : [],
	...over,
});

const BOOKS = [
	book("everywhere", { scope: "global" }),
	book("hers", { scope: "character", id: "mira" }),
	book("here", { scope: "chat", id: "evening" }),
	book("sams", { scope: "persona", id: "sam" }),
	book("someone else's", { scope: "character", id: "osei" }),
	book("of another chat", { scope: "chat", id: "morning" }),
	book("loose", null),
	book("off", { scope: "global" }, { enabled: false }),
	book("in her card", { scope: "global" }, { character: "mira" }),
];

test("a memory can belong to the worlds that count where it is looked at", () => {
	const worlds = (of: Of) => worldsOf(BOOKS, of).map(({ id }) => id);
	expect(worlds(MIRA)).toEqual(["everywhere", "hers", "here", "sams"]);
	expect(worlds({ ...MIRA, id: null })).toEqual(["everywhere", "hers", "sams"]);
});
