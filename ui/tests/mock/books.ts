import type { ApiError, EntryMeaning, Event, Lorebook, LorebookBinding, LorebookEntry, LorebookFields, LorebookSummary, LoreTrial } from "../../src/lib/api/generated";
import { NEW_ENTRY } from "../../src/lib/state/books/fields";

const entry = (id: string, over: Partial<LorebookEntry>): LorebookEntry => ({ ...structuredClone(NEW_ENTRY), id, ...over });

const TOWN = [
	entry("0", { title: "The bell", keys: ["bell", "tower"], content: "The bell of the hill town has not rung since the flood. Nobody says why, and everybody listens for it." }),
	entry("1", { title: "The mill", keys: ["mill", "miller", "wheel"], secondaryKeys: ["winter"], content: "@@depth 2\nIn winter the wheel of the mill turns the wrong way.", position: "atDepth", depth: 2, order: 120, vectorized: true }),
	entry("2", { title: "The road up", constant: true, content: "One road leads up to the town, and it is longer on the way down." }),
	entry("3", { keys: ["/lamp(light)?er/i"], content: "The lamplighter is paid by the lamp, and counts aloud.", probability: 60, order: 90 }),
	entry("4", { title: "The ferryman's third name, which is written down nowhere but in the margin of a drowned ledger", keys: ["ferryman", "Osei"], content: "He answers to it only by night.", enabled: false, group: "names", sticky: 3 }),
];

function book(id: string, name: string, entries: LorebookEntry[], over: Partial<LorebookSummary> = {}, fields: Partial<LorebookFields> = {}): Lorebook {
	const description = fields.description ?? "";
	return {
		about: { id, name, character: null, characterName: "", description, entryCount: entries.length, enabled: true, bindings: [], ...over },
		fields: { name, description, scanDepth: null, tokenBudget: null, recursiveScanning: null, ...fields },
		entries,
		unread: [],
	};
}

/** The lorebooks of the scripted engine. */
export class MockBooks {
	#all = [
		book("b1", "The hill town", TOWN, { bindings: [{ scope: "global" }, { scope: "character", id: "c1" }, { scope: "chat", id: "chat0" }] }, { description: "What everybody there knows.", tokenBudget: 400 }),
		book("b2", "Names of the sea", [entry("0", { title: "Old Water", keys: ["sea"], content: "They call it Old Water." })]),
		book("b3", "Winter", [], { enabled: false, bindings: [{ scope: "persona", id: "p1" }] }),
		book("c1", "Mira's lantern", [entry("0", { title: "The lantern", keys: ["lantern"], content: "It burns whale oil." })], { character: "c1", characterName: "Mira" }),
	];
	#gone: Lorebook[] = [];
	#next = 10;

	constructor(private readonly emit: (event: Event) => void) {}

	clear(): void {
		this.#all = [];
	}

	all = () => this.#all;

	op_list_lorebooks = () => this.#all.map(({ about }) => about);
	op_get_lorebook = ({ id }: { id: string }) => this.#book(id);
	op_entry_meanings = ({ book: id }: { book: string }): EntryMeaning[] =>
		this.#book(id).entries.filter(({ vectorized }) => vectorized).map((one) => ({ entry: one.id, ready: one.id !== "3" }));
	op_create_lorebook = ({ name }: { name: string }) => {
		const made = book(`b${this.#next++}`, name, []);
		this.#all.unshift(made);
		return made;
	};
	op_duplicate_lorebook = ({ id }: { id: string }) => {
		const known = this.#book(id);
		const made = book(`b${this.#next++}`, `${known.about.name} (2)`, []);
		made.entries.push(...structuredClone(known.entries));
		made.about.entryCount = made.entries.length;
		this.#all.unshift(made);
		return made;
	};
	op_update_lorebook = ({ id, fields }: { id: string; fields: LorebookFields }) => {
		const known = this.#book(id);
		known.fields = fields;
		Object.assign(known.about, { name: fields.name, description: fields.description });
		return this.#changed(known);
	};
	op_enable_lorebook = ({ id, enabled }: { id: string; enabled: boolean }) => {
		const known = this.#book(id);
		known.about.enabled = enabled;
		return this.#changed(known);
	};
	op_bind_lorebook = ({ id, bindings }: { id: string; bindings: LorebookBinding[] }) => {
		const known = this.#book(id);
		known.about.bindings = bindings;
		return this.#changed(known);
	};
	op_delete_lorebook = ({ id }: { id: string }) => {
		this.#gone.push(this.#book(id));
		this.#all = this.#all.filter(({ about }) => about.id !== id);
	};
	op_restore_lorebook = ({ id }: { id: string }) => {
		const known = this.#gone.find(({ about }) => about.id === id);
		if (known) this.#all.unshift(known);
	};
	op_save_lore_entry = ({ book: id, entry }: { book: string; entry: LorebookEntry }) => {
		const known = this.#book(id);
		const saved = { ...entry, id: entry.id || String(this.#next++) };
		known.entries = entry.id ? known.entries.map((one) => (one.id === saved.id ? saved : one)) : [...known.entries, saved];
		this.#changed(known);
		return saved;
	};
	op_enable_lore_entries = ({ book: id, ids, enabled }: { book: string; ids: string[]; enabled: boolean }) => {
		const known = this.#book(id);
		known.entries = known.entries.map((one) => (ids.includes(one.id) ? { ...one, enabled } : one));
		return this.#changed(known);
	};
	op_delete_lore_entries = ({ book: id, ids }: { book: string; ids: string[] }) => {
		const known = this.#book(id);
		const before = JSON.stringify(known.entries);
		known.entries = known.entries.filter((one) => !ids.includes(one.id));
		this.#changed(known);
		return before;
	};
	op_restore_lore_entries = ({ book: id, deleted }: { book: string; deleted: string }) => {
		const known = this.#book(id);
		known.entries = JSON.parse(deleted) as LorebookEntry[];
		return this.#changed(known);
	};
	op_order_lore_entries = ({ book: id, ids }: { book: string; ids: string[] }) => {
		const known = this.#book(id);
		known.entries = ids.flatMap((one) => known.entries.find((entry) => entry.id === one) ?? []);
		return this.#changed(known);
	};
	op_copy_lore_entries = ({ book: id, ids, to, leave }: { book: string; ids: string[]; to: string; leave: boolean }) => {
		const [from, target] = [this.#book(id), this.#book(to)];
		target.entries = [...target.entries, ...from.entries.filter((one) => ids.includes(one.id)).map((one) => ({ ...one, id: String(this.#next++) }))];
		this.#changed(target);
		if (leave) this.op_delete_lore_entries({ book: id, ids });
	};
	op_try_lore = ({ text }: { text: string }): LoreTrial => {
		const [town] = this.#all;
		const entries = town?.entries ?? [];
		const words = text.toLowerCase();
		const hits = entries.filter((one) => one.enabled && (one.constant || one.keys.some((key) => words.includes(key))));
		const told = hits.map((one, index) => ({
			book: "The hill town", entry: one.id, title: one.title, reason: one.constant ? "constant" : "key", key: one.constant ? null : (one.keys.find((key) => words.includes(key)) ?? null),
			found: one.constant ? null : index > 1 ? { in: "entry" as const } : { in: "message" as const, speaker: "Wanderer", ago: 0 }, pass: index > 1 ? 1 : 0, position: one.position, depth: one.depth, outlet: null, order: one.order, tokens: Math.ceil(one.content.length / 4), text: one.content.replace(/^@@.*\n/, ""),
		}));
		const silent = entries.filter((one) => !hits.includes(one)).map((one) => ({ book: "The hill town", entry: one.id, title: one.title, rule: one.enabled ? "key_not_found" : "disabled" }));
		return { told, silent, silentCount: silent.length, tokens: told.reduce((sum, one) => sum + one.tokens, 0), budget: 1792, overflowed: false, counted: true, notices: [] };
	};

	#book(id: string): Lorebook {
		const known = this.#all.find(({ about }) => about.id === id);
		if (!known) throw { kind: "notFound", message: "This lorebook no longer exists." } satisfies ApiError;
		return known;
	}

	#changed(known: Lorebook): Lorebook {
		known.about.entryCount = known.entries.length;
		this.emit({ event: "changed", what: "lorebooks", id: known.about.id });
		return known;
	}
}
