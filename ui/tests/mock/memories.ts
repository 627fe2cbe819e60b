import type { ApiError, Event, LoreEntry, Memory, MemoryDraft, Receipt } from "../../src/lib/api/generated";
import { ago } from "./data";

const memory = (id: string, text: string, over: Partial<Memory> = {}): Memory => ({
	id,
	type: "fact",
	text,
	importance: 8,
	scope: "pair",
	character: "c1",
	persona: "p1",
	chat: null,
	pinned: false,
	sources: [],
	created: ago(30),
	updated: ago(30),
	score: null,
	...over,
});

const MEMORIES = [
	memory("m1", "Wanderer reads by candle at night.", { sources: ["a1"], created: ago(0.4), updated: ago(0.4) }),
	memory("m3", "Wanderer said: “my sister Wilhelmina sails the ferry”", { pinned: true, importance: 9, sources: ["x1"], created: ago(52), updated: ago(52) }),
	memory("m4", "Wanderer promised to be home by the first snow.", { type: "open_thread", sources: ["g", "u1"], created: ago(80), updated: ago(2) }),
	memory("m5", "Mira never lights the mill herself; the miller asked her not to, the autumn his boy went up the tower, and she has kept to it.", { type: "rule", scope: "character", persona: null }),
	memory("m6", "Likes tea dark and fragrant.", { type: "preference", importance: 3, scope: "profile", character: null, persona: null }),
	memory("m7", "Tonight they speak of the map only.", { type: "note", importance: 5, scope: "chat", character: null, persona: null, chat: "chat0" }),
];

const receipt = (message: string, chat: string, title: string, name: string, line: string, hours: number): Receipt => ({ message, chat, title, name, line, created: ago(hours) });

const RECEIPTS = [
	receipt("a1", "chat0", "Mira", "Mira", "“You, for instance, have been reading by candle. There is wax on your sleeve.”", 0.4),
	receipt("x1", "chat1", "Captain Osei", "Wanderer", "Remember that my sister Wilhelmina sails the ferry.", 52),
	receipt("g", "chat0", "Mira", "Mira", "The rain has followed you in. Behind the counter a woman with ink on her fingers looks up from a lamp she has taken apart, and smiles as if she had been waiting for exactly this interruption.", 80),
	receipt("u1", "chat0", "Mira", "Wanderer", "I saw your light from the road.", 79),
];

const LORE: LoreEntry[] = [
	{ id: "e1", title: "The town", keys: [], secondaryKeys: [], content: "One hundred and forty-one lamps, four bells and no clock.", constant: true, enabled: true },
	{ id: "e4", title: "The mill", keys: ["mill", "miller"], secondaryKeys: ["tower", "night"], content: "The mill has stood dark since the miller's boy went up to light it and did not come down.", constant: false, enabled: true },
	{ id: "e5", title: "", keys: ["baker", "/thursday?s/i"], secondaryKeys: [], content: "The baker's light burns late on Thursdays.", constant: false, enabled: true },
	{ id: "e9", title: "The hill road", keys: ["road"], secondaryKeys: [], content: "The hill road is paved with river stones.", constant: false, enabled: true },
	{ id: "e10", title: "The coast", keys: ["coast"], secondaryKeys: [], content: "Not written yet.", constant: false, enabled: false },
];

/** Memories and lore of the scripted engine. */
export class MockMemories {
	items: Memory[] = structuredClone(MEMORIES);
	#deleted: Memory[] = [];
	#next = 1;

	constructor(private readonly emit: (event: Event) => void) {}

	op_list_memories = ({ character, query }: { character: string; query: string }): Memory[] => {
		const counts = this.items.filter((one) => character === "c1" || one.scope === "profile");
		const words = query.toLowerCase().split(/\W+/).filter(Boolean);
		if (words.length > 0) return counts.filter(({ text }) => words.some((word) => text.toLowerCase().includes(word))).map((one) => ({ ...one, score: 1 }));
		return counts.toSorted((a, b) => Number(b.pinned) - Number(a.pinned) || b.importance - a.importance);
	};
	op_receipts = ({ messages }: { messages: string[] }) => messages.flatMap((id) => RECEIPTS.find(({ message }) => message === id) ?? []);
	op_save_memory = ({ draft }: { draft: MemoryDraft }): Memory => {
		if (draft.text.includes("refuse")) throw { kind: "badInput", message: "A memory needs a text, and a short one.", hint: "Write a sentence or a few." } satisfies ApiError;
		const known = this.items.find(({ id }) => id === draft.id);
		const saved = { ...memory("", draft.text, { created: ago(0) }), ...known, ...draft, id: draft.id || `m-own-${this.#next++}`, updated: ago(0) };
		this.items = known ? this.items.map((one) => (one === known ? saved : one)) : [...this.items, saved];
		this.#changed();
		return saved;
	};
	op_delete_memory = ({ id }: { id: string }) => {
		this.#deleted.push(...this.items.filter((one) => one.id === id));
		this.items = this.items.filter((one) => one.id !== id);
		this.#changed();
	};
	op_restore_memory = ({ id }: { id: string }) => {
		this.items.push(...this.#deleted.filter((one) => one.id === id));
		this.#changed();
	};
	op_pin_memory = ({ id, pinned }: { id: string; pinned: boolean }): Memory => {
		const known = this.items.find((one) => one.id === id) as Memory;
		const saved = { ...known, pinned };
		this.items = this.items.map((one) => (one === known ? saved : one));
		this.#changed();
		return saved;
	};
	op_card_lore = ({ character }: { character: string }): LoreEntry[] => (character === "c1" ? LORE : []);

	#changed(): void {
		this.emit({ event: "changed", what: "memories", id: null });
	}
}
