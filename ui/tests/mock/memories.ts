import type { ApiError, Consolidation, Event, FoundMemories, Keyframe, LoreEntry, Memory, MemoryDraft, MemoryFilter, MemoryImport, MemoryOwner, MemoryStorage, Receipt, Recollected, Recollection, SignalKind } from "../../src/lib/api/generated";
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
	world: null,
	pinned: false,
	origin: "rule",
	confidence: 10,
	sources: [],
	echoes: [],
	archived: null,
	created: ago(30),
	updated: ago(30),
	score: null,
	...over,
});

const MEMORIES = [
	memory("m1", "Wanderer reads by candle at night.", { origin: "model", sources: ["a1"], created: ago(0.4), updated: ago(0.1) }),
	memory("m3", "Wanderer said: “my sister Wilhelmina sails the ferry”", { pinned: true, importance: 9, sources: ["x1"], created: ago(52), updated: ago(52) }),
	memory("m4", "Wanderer promised to be home by the first snow.", { type: "open_thread", origin: "user", sources: ["g", "u1"], created: ago(80), updated: ago(2) }),
	memory("m5", "Mira never lights the mill herself; the miller asked her not to, the autumn his boy went up the tower, and she has kept to it.", { type: "rule", scope: "character", persona: null }),
	memory("m6", "Likes tea dark and fragrant.", { type: "preference", importance: 3, scope: "profile", character: null, persona: null }),
	memory("m7", "Tonight they speak of the map only.", { type: "note", importance: 5, scope: "chat", character: null, persona: null, chat: "chat0" }),
	memory("m8", "Wanderer lives in the harbour.", { origin: "model", confidence: 7, importance: 6, archived: { why: "superseded", since: ago(52), by: "m4" } }),
];

const receipt = (message: string, chat: string, title: string, name: string, line: string, hours: number): Receipt => ({ message, chat, title, name, line, created: ago(hours) });

const RECEIPTS = [
	receipt("a1", "chat0", "Mira", "Mira", "“You, for instance, have been reading by candle. There is wax on your sleeve.”", 0.4),
	receipt("x1", "chat1", "Captain Osei", "Wanderer", "Remember that my sister Wilhelmina sails the ferry.", 52),
	receipt("g", "chat0", "Mira", "Mira", "The rain has followed you in. Behind the counter a woman with ink on her fingers looks up from a lamp she has taken apart, and smiles as if she had been waiting for exactly this interruption.", 80),
	receipt("u1", "chat0", "Mira", "Wanderer", "I saw your light from the road.", 79),
];

const KEYFRAMES: Keyframe[] = [
	{ id: "k1", chat: "chat0", message: "u1", messages: 20, said: ago(0.6), text: "Wanderer: I saw your light from the road. Mira: “Every lamp, and most of the people who sit beneath them,” Mira says, pouring something dark and fragrant into a chipped cup. Wanderer: Could you draw me a map of them? Mira: “A map of all the lights? Nobody has asked me for that in years.” Her thumb finds a smear of soot on the brass and rubs at it. Wanderer: Then begin with the ones that lie." },
	{ id: "k2", chat: "chat3", message: "g", messages: 20, said: ago(79), text: "Mira: The rain has followed you in. Wanderer: Is it always so dark on this side of the hill?" },
];

const LORE: LoreEntry[] = [
	{ id: "e1", title: "The town", keys: [], secondaryKeys: [], content: "One hundred and forty-one lamps, four bells and no clock.", constant: true, enabled: true },
	{ id: "e4", title: "The mill", keys: ["mill", "miller"], secondaryKeys: ["tower", "night"], content: "The mill has stood dark since the miller's boy went up to light it and did not come down.", constant: false, enabled: true },
	{ id: "e5", title: "", keys: ["baker", "/thursday?s/i"], secondaryKeys: [], content: "The baker's light burns late on Thursdays.", constant: false, enabled: true },
	{ id: "e9", title: "The hill road", keys: ["road"], secondaryKeys: [], content: "The hill road is paved with river stones.", constant: false, enabled: true },
	{ id: "e10", title: "The coast", keys: ["coast"], secondaryKeys: [], content: "Not written yet.", constant: false, enabled: false },
];

const signals = (values: Partial<Record<SignalKind, number>>) => Object.entries(values).map(([of, value]) => ({ of: of as SignalKind, value }));

const found = (id: string, text: string, over: Partial<Recollected>): Recollected => ({
	id,
	type: "message",
	text,
	importance: null,
	scope: null,
	sources: [],
	chat: null,
	created: null,
	source: "said by Wanderer",
	origin: { of: "message", id },
	reason: "about this turn, 0.71",
	reasons: [],
	score: 0.71,
	signals: signals({ words: 0.8, nearness: 0.93, pieces: 0.74, who: 1 }),
	tokens: 24,
	kept: true,
	droppedReason: null,
	droppedCode: null,
	...over,
});

const FOUND: Recollected[] = [
	found("m3", "Wanderer said: “my sister Wilhelmina sails the ferry”", { type: "fact", importance: 9, scope: "pair", created: ago(52), source: "memory", origin: { of: "memory", id: "m3" }, reason: "about this turn, 0.83", score: 0.83, signals: signals({ words: 1, nearness: 0.61, importance: 0.9, recency: 0.95 }), tokens: 17 }),
	found("x1", "Remember that my sister Wilhelmina sails the ferry.", { chat: "chat1", created: ago(52) }),
	found("doc1", "The ferry crosses at low water only; whoever sails her knows the third sandbank by its sound.", { type: "document", source: "document The harbour.md", origin: { of: "document", id: "doc1", name: "The harbour.md" }, reason: "about this turn, 0.64", score: 0.64, signals: signals({ words: 0.7, nearness: 0.58 }), tokens: 31 }),
	found("e9", "The hill road is paved with river stones.", { type: "lore", source: "lorebook The hill town: The hill road", origin: { of: "lore", book: "The hill town", entry: "e9" }, reason: "by meaning, 0.47", score: 0.47, signals: signals({ nearness: 0.47 }), tokens: 12 }),
	found("u1", "I saw your light from the road.", { chat: "chat0", created: ago(79), reason: "about this turn, 0.34", score: 0.34, signals: signals({ words: 0, nearness: 0.62, pieces: 0.41, who: 1 }), kept: false, droppedReason: "its messages are in the window", tokens: 9 }),
];

/** Memories and lore of the scripted engine. */
export class MockMemories {
	items: Memory[] = structuredClone(MEMORIES);
	/** The embedding model is available. */
	byMeaning = true;
	#deleted: Memory[] = [];
	#next = 1;

	constructor(private readonly emit: (event: Event) => void) {}

	/** Removes what belongs to a deleted chat. The returned function restores it. */
	leave(chat: string): () => void {
		const gone = this.#learnedIn(chat);
		this.items = this.items.filter((one) => !gone.includes(one));
		this.#changed();
		return () => {
			this.items.push(...gone);
			this.#changed();
		};
	}

	op_learned_in = ({ chats }: { chats: string[] }): number => chats.reduce((sum, chat) => sum + this.#learnedIn(chat).length, 0);
	op_find_memories = ({ character, query, filter }: { character: string; query: string; filter: MemoryFilter }): FoundMemories => {
		const fits = ({ type, scope, sources, archived }: Memory) =>
			(filter.archived === true) === (archived !== null) && (filter.type ?? type) === type && (filter.scope ?? scope) === scope && (filter.made === null || (filter.made === "words") === sources.length > 0);
		const counts = this.items.filter((one) => (character === "c1" || one.scope === "profile") && fits(one));
		const words = query.toLowerCase().split(/\W+/).filter(Boolean);
		if (words.length > 0) return { memories: counts.filter(({ text }) => words.some((word) => text.toLowerCase().includes(word))).map((one) => ({ ...one, score: 1 })), more: false };
		return { memories: counts.toSorted((a, b) => Number(b.pinned) - Number(a.pinned) || b.importance - a.importance), more: false };
	};
	op_keyframes = ({ character }: { character: string }): Keyframe[] => (character === "c1" ? KEYFRAMES : []);
	op_memory_worlds = (): string[] => ["b1"];
	op_receipts = ({ messages }: { messages: string[] }) => messages.flatMap((id) => RECEIPTS.find(({ message }) => message === id) ?? []);
	op_try_recall = ({ words }: { words: string }): Recollection => {
		if (words.includes("refuse")) throw { kind: "noModel", message: "No model is set up, so there is no reply.", hint: "Add a model file, or connect an endpoint." } satisfies ApiError;
		const items = words.includes("submarine") ? [] : FOUND;
		return { items, tokens: items.reduce((sum, { kept, tokens }) => sum + (kept ? tokens : 0), 0), budget: 1500, notices: [] };
	};
	op_recalled = (): Recollection => ({ items: FOUND.slice(0, 2), tokens: 41, budget: 1500, notices: ["Memory: searched by words only, because the embedding model did not answer in time."] });
	op_save_memory = ({ draft }: { draft: MemoryDraft }): Memory => {
		if (draft.text.includes("refuse")) throw { kind: "badInput", message: "A memory needs a text, and it must be short.", hint: "Write a sentence or a few." } satisfies ApiError;
		const known = this.items.find(({ id }) => id === draft.id);
		const saved = { ...memory("", draft.text, { created: ago(0) }), ...known, ...draft, origin: "user", id: draft.id || `m-own-${this.#next++}`, updated: ago(0) };
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
	op_merge_memories = ({ first, second, text }: { first: string; second: string; text: string }): Memory => {
		const [one, other] = [first, second].map((id) => this.items.find((known) => known.id === id) as Memory) as [Memory, Memory];
		const merged = { ...one, id: `m-own-${this.#next++}`, text, sources: [...one.sources, ...other.sources], importance: Math.max(one.importance, other.importance), updated: ago(0) };
		this.#deleted.push(one, other);
		this.items = [...this.items.filter(({ id }) => id !== first && id !== second), merged];
		this.#changed();
		return merged;
	};
	op_unmerge_memories = ({ merged, parts }: { merged: string; parts: string[] }) => {
		this.items = this.items.filter(({ id }) => id !== merged);
		this.op_restore_memories({ memories: parts });
	};
	op_forget_memories = ({ of }: { of: MemoryOwner }): string[] => {
		const forgotten = this.items.filter(({ scope }) => of.of === "everybody" || (of.of === "pair" ? scope === "pair" : scope !== "profile" && scope !== "world"));
		this.#deleted.push(...forgotten);
		this.items = this.items.filter((one) => !forgotten.includes(one));
		this.#changed();
		return forgotten.map(({ id }) => id);
	};
	op_restore_memories = ({ memories }: { memories: string[] }) => {
		this.items.push(...this.#deleted.filter(({ id }) => memories.includes(id)));
		this.#changed();
	};
	op_import_memories = ({ json }: { json: string }): MemoryImport => {
		const { items } = JSON.parse(json) as { items: Partial<Memory>[] };
		const fresh = items.filter(({ id }) => !this.items.some((known) => known.id === id));
		this.items.push(...fresh.map((one) => memory(`m-own-${this.#next++}`, one.text ?? "", one)));
		this.#changed();
		return { added: fresh.length, known: items.length - fresh.length, worldless: [], refused: [] };
	};
	op_consolidate_memories = (): Consolidation => ({ merged: [], superseded: [], retired: [], crowded: [] });
	op_unarchive_memories = ({ memories }: { memories: string[] }) => {
		this.items = this.items.map((one) => (memories.includes(one.id) ? { ...one, archived: null } : one));
		this.#changed();
	};
	op_memory_storage = (): MemoryStorage => ({ memories: this.items.filter(({ archived }) => archived === null).length, memoryBytes: 412, vectors: 3_180, vectorBytes: 38_400_000, unread: 12, byMeaning: this.byMeaning });
	op_card_lore = ({ character }: { character: string }): LoreEntry[] => (character === "c1" ? LORE : []);

	#learnedIn(chat: string): Memory[] {
		const said = RECEIPTS.flatMap((one) => (one.chat === chat ? [one.message] : []));
		return this.items.filter(({ scope, sources, archived }) => archived === null && scope !== "chat" && sources.some((id) => said.includes(id)));
	}

	#changed(): void {
		this.emit({ event: "changed", what: "memories", id: null });
	}
}
