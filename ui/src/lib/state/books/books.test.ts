import { expect, test, vi } from "vitest";
import { MockBooks } from "../../../../tests/mock/books";
import { FakeShell } from "../../../../tests/unit/shell";
import type { LorebookEntry, LoreTrial } from "../../api/generated";
import { api } from "../api";
import { Books } from "./books.svelte";
import { lines } from "./fields";
import { LoreTest } from "./loreTest.svelte";
import { rule } from "./texts";

/** Opens a book of the scripted engine. */
async function opened(id = "b1"): Promise<{ books: Books; shell: FakeShell }> {
	const mock = new MockBooks(() => {});
	const answers = Object.entries(mock).filter(([name]) => name.startsWith("op_"));
	const shell = new FakeShell(Object.fromEntries(answers.map(([name, answer]) => [name.slice(3), (args: never) => structuredClone((answer as (args: never) => unknown)(args))])));
	const books = new Books(api(shell));
	await books.load();
	await books.open(id);
	return { books, shell };
}

const titles = (entries: readonly LorebookEntry[]) => entries.map(({ title, keys }) => title.slice(0, 12) || keys[0]);

test("lists stand-alone books first, search finds both", async () => {
	const { books } = await opened();
	expect([books.own.map(({ id }) => id), books.ofCards.map(({ id }) => id)]).toEqual([["b1", "b2", "b3"], ["c1"]]);
	books.query = "mira";
	expect([books.own.length, books.ofCards.length]).toEqual([0, 1]);
});

test("draft of an entry stays until saved or discarded", async () => {
	const { books, shell } = await opened();
	const { book } = books;
	book?.open("0");
	book?.change({ content: "It rings." });
	book?.open("1");
	expect([book?.dirty, book?.isDirty("0"), books.isUnsaved("b1")]).toEqual([false, true, true]);
	await books.open("b2");
	await books.open("b1");
	book?.open("0");
	expect(book?.editing?.content).toBe("It rings.");
	expect(await book?.save()).toBe(true);
	expect([shell.count("save_lore_entry"), book?.dirty, books.isUnsaved("b1")]).toEqual([1, false, false]);
	expect(book?.entries[0]?.content).toBe("It rings.");
	book?.change({ content: "It falls." });
	book?.discard();
	expect(book?.editing?.content).toBe("It rings.");
});

test("new entry is listed until saved, then comes last", async () => {
	const { books } = await opened("b2");
	const { book } = books;
	book?.create();
	book?.change({ title: "The tide", keys: ["tide"] });
	book?.close();
	expect(book?.fresh.map(({ entry }) => entry.title)).toEqual(["The tide"]);
	book?.open(book.fresh[0]?.key ?? "");
	await book?.save();
	expect([book?.fresh.length, titles(book?.entries ?? []), book?.dirty]).toEqual([0, ["Old Water", "The tide"], false]);
});

test("entries are found, sorted, moved and restored", async () => {
	const { books } = await opened();
	const { book } = books;
	if (!book) throw new Error("no book is open");
	book.query = "WINTER";
	expect(titles(book.shown)).toEqual(["The mill"]);
	book.query = "";
	book.sort = "order";
	expect(titles(book.shown).slice(0, 2)).toEqual(["/lamp(light)?er/i", "The bell"]);
	book.sort = "own";
	await book.move("0", 1);
	await book.move("0", -1);
	await book.move("0", -1);
	expect(titles(book.entries).slice(0, 2)).toEqual(["The bell", "The mill"]);
	expect(await book.move("0", -1), "it is the first").toBe(false);
	await book.switch(["0", "1"], false);
	expect(book.entries.filter(({ enabled }) => enabled).map(({ id }) => id)).toEqual(["2", "3"]);
	book.chosen.add("0");
	book.chosen.add("3");
	book.open("3");
	const undo = await book.remove(["0", "3"]);
	expect([book.entries.length, book.chosen.size, book.editing]).toEqual([3, 0, null]);
	await undo?.();
	expect(book.entries.length).toBe(5);
	await book.copy(["1"], "b2", true);
	expect(book.entries.length).toBe(4);
});

test("entry moves before or after another one", async () => {
	const { books, shell } = await opened();
	const { book } = books;
	const ids = () => book?.entries.map(({ id }) => id).join("");
	await book?.moveTo("0", "3", false);
	expect([ids(), book?.positionOf("0")]).toEqual(["12034", 3]);
	await book?.moveTo("0", "4", true);
	expect(ids()).toBe("12340");
	await book?.moveTo("4", "1", false);
	expect(ids()).toBe("41230");
	expect([await book?.moveTo("4", "1", false), shell.count("order_lore_entries")], "it stands there already").toEqual([false, 3]);
});

test("deleted book leaves the list, undo opens it", async () => {
	const { books } = await opened();
	await books.remove("b1");
	expect([books.book, books.all.some(({ id }) => id === "b1")]).toEqual([null, false]);
	await books.restore("b1");
	expect([books.book?.id, books.all.some(({ id }) => id === "b1")]).toEqual(["b1", true]);
});

test("book fields keep the draft on outside changes", async () => {
	const { books } = await opened();
	const { book } = books;
	book?.changeBook({ name: "The drowned town" });
	await books.changed("b1");
	expect([book?.fields?.name, book?.changed]).toEqual(["The drowned town", true]);
	await book?.saveBook();
	expect([book?.whole?.about.name, book?.changed]).toEqual(["The drowned town", false]);
	await book?.bind([{ scope: "global" }]);
	expect(book?.whole?.about.bindings).toEqual([{ scope: "global" }]);
});

test("test runs after a pause and uses the latest text", async () => {
	vi.useFakeTimers();
	const trial = (tokens: number): LoreTrial => ({ told: [], silent: [], silentCount: 0, tokens, budget: 100, overflowed: false, counted: true, notices: [] });
	const shell = new FakeShell({ try_lore: ({ text }: { text: string }) => trial(text.length) });
	const trying = new LoreTest(api(shell));
	trying.show("b1", "a", "");
	trying.show("b1", "abc", "");
	await vi.advanceTimersByTimeAsync(500);
	expect([shell.count("try_lore"), trying.result?.tokens, trying.busy]).toEqual([1, 3, false]);
	expect(shell.asked[0]?.args).toEqual({ book: "b1", text: "abc", chat: null });
	trying.show("b1", " ", "");
	await vi.advanceTimersByTimeAsync(500);
	expect([shell.count("try_lore"), trying.result]).toEqual([1, null]);
	vi.useRealTimers();
});

test("keys are one per line, and every rule has a text", () => {
	expect(lines(" lamp \n\n/a,b/i\n")).toEqual(["lamp", "/a,b/i"]);
	expect([rule("key_not_found"), rule("something_new")]).toEqual(["no keyword found", "excluded by its own text"]);
});
