import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Draft, DraftPlace } from "../api/generated";
import { FakeShell } from "../../../tests/unit/shell";
import { MockDrafts } from "../../../tests/mock/drafts";
import { api, type Api } from "./api";
import { fingerprint, KeptForm, KeptForms, keptForm, saveTyped, savedOnClose } from "./keptForm.svelte";

const PLACE: DraftPlace = { kind: "messageEdit", owner: "chat", target: "m" };

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** Windows of one engine. */
function desk() {
	const drafts = new MockDrafts();
	const shell = new FakeShell({
		drafts: ({ kind, owner }: DraftPlace) => drafts.of(kind, owner),
		write_draft: (args: Parameters<MockDrafts["write"]>[0]) => drafts.write(args),
		discard_draft: ({ id }: Draft) => drafts.discard(id),
	});
	const texts = () => drafts.of(PLACE.kind, PLACE.owner).map(({ text }) => text);
	/** A form in a window of its own, as after a restart. */
	const form = async (stored: string, engine: Api = api(shell)) => {
		const shown = { text: stored };
		const failures: unknown[] = [];
		const kept = new KeptForm(engine, PLACE, (text) => (shown.text = text), (error) => failures.push(error));
		await kept.restore(stored);
		return { kept, shown, failures };
	};
	return { shell, drafts, texts, form };
}

test("draft is saved while the user types and shown by the next window", async () => {
	const { shell, texts, form } = desk();
	const { kept } = await form("Hello");
	let typed = "Hello";
	for (const letter of " there, and no pause of 200 ms between the keys") {
		kept.typed((typed += letter));
		await vi.advanceTimersByTimeAsync(60);
		const kept300msAgo = typed.slice(0, -5);
		if (kept300msAgo.length > "Hello".length) expect(texts()[0]!.length).toBeGreaterThanOrEqual(kept300msAgo.length);
	}
	expect(shell.count("write_draft")).toBeLessThan(15);
	kept.typed("Hello there");
	await vi.advanceTimersByTimeAsync(200);
	expect(texts()).toEqual(["Hello there"]);
	const next = await form("Hello");
	expect([next.shown.text, next.kept.notice]).toEqual(["Hello there", { kind: "restored", text: "Hello", id: "" }]);
});

test("text that equals the stored value has no draft", async () => {
	const { texts, form } = desk();
	const { kept } = await form("Hello");
	kept.typed("Hello there");
	await kept.now();
	kept.typed("Hello");
	await kept.now();
	expect(texts()).toEqual([]);
	kept.typed("Hello you");
	await kept.now();
	await kept.done("Hello you");
	expect(texts()).toEqual([]);
	// A draft of a text that was stored meanwhile is removed when the form opens.
	kept.typed("Third");
	await kept.now();
	const next = await form("Third");
	await next.kept.now();
	expect([next.kept.notice, texts()]).toEqual([null, []]);
});

test("stored value that changed is shown, and the draft stays", async () => {
	const { texts, form } = desk();
	const first = await form("Hello");
	first.kept.typed("Mine");
	await first.kept.now();
	const next = await form("Changed elsewhere");
	expect([next.shown.text, next.kept.notice?.kind, next.kept.notice?.text]).toEqual(["Changed elsewhere", "older", "Mine"]);
	await next.kept.use();
	await next.kept.now();
	expect([next.shown.text, next.kept.notice?.kind, texts()]).toEqual(["Mine", "restored", ["Mine"]]);
	await next.kept.use();
	expect([next.shown.text, next.kept.notice, texts()]).toEqual(["Changed elsewhere", null, []]);
});

test("windows keep both texts, and the later one says so", async () => {
	const { texts, form } = desk();
	const [one, two] = [await form("Hello"), await form("Hello")];
	one.kept.typed("One");
	await one.kept.now();
	expect(one.kept.notice).toBeNull();
	two.kept.typed("Two");
	await two.kept.now();
	expect([two.kept.notice?.kind, two.kept.notice?.text]).toEqual(["other", "One"]);
	expect(texts().toSorted()).toEqual(["One", "Two"]);
	await two.kept.use();
	await two.kept.now();
	expect([two.shown.text, two.kept.notice?.text]).toEqual(["One", "Two"]);
	await two.kept.use();
	await two.kept.now();
	expect([two.shown.text, texts().toSorted()]).toEqual(["Two", ["One", "Two"]]);
	two.kept.discard();
	await two.kept.now();
	expect(texts()).toEqual(["Two"]);
});

test("failed save is reported once and repeated", async () => {
	const { shell, texts, form } = desk();
	const { kept, failures } = await form("Hello");
	const write = shell.answers.write_draft;
	shell.answers.write_draft = () => {
		throw { kind: "internal", message: "away" };
	};
	kept.typed("a");
	await kept.now();
	kept.typed("ab");
	await kept.now();
	expect(failures).toHaveLength(1);
	if (write) shell.answers.write_draft = write;
	await kept.now();
	expect(texts()).toEqual(["ab"]);
});

test("text typed before the drafts are read is not replaced", async () => {
	const { drafts, shell } = desk();
	drafts.write({ place: PLACE, text: "Old", base: fingerprint("Hello"), before: null });
	const shown = { text: "Hello" };
	const kept = new KeptForm(api(shell), PLACE, (text) => (shown.text = text), () => {});
	const restored = kept.restore("Hello");
	kept.typed("Hello n");
	await restored;
	expect([shown.text, kept.notice?.text]).toEqual(["Hello", "Old"]);
});

test("closing saves every form of the page", async () => {
	const { shell, texts } = desk();
	const engine = api(shell);
	const kept = keptForm(engine, PLACE, () => {}, () => {});
	expect(keptForm(engine, PLACE, () => {}, () => {})).toBe(kept);
	const reasons: string[] = [];
	const stop = savedOnClose(engine, async (why) => void reasons.push(why));
	kept.typed("Typed just now");
	await saveTyped(engine, "closing");
	stop();
	await saveTyped(engine, "hidden");
	expect([texts(), reasons]).toEqual([["Typed just now"], ["closing"]]);
});

test("forms of one owner are restored by target", async () => {
	const { drafts, shell } = desk();
	drafts.write({ place: { ...PLACE, target: "a" }, text: "A2", base: fingerprint("A1"), before: null });
	drafts.write({ place: { ...PLACE, target: "b" }, text: "B2", base: fingerprint("gone"), before: null });
	const shown = new Map<string, string>();
	const forms = new KeptForms(api(shell), "messageEdit", "chat", (target, text) => shown.set(target, text));
	await forms.restore((target) => (target === "a" ? "A1" : "B1"));
	expect([...shown]).toEqual([["a", "A2"]]);
	expect([forms.get("a")?.notice?.kind, forms.get("b")?.notice?.kind, forms.get("c")]).toEqual(["restored", "older", null]);
});

test("forms that are opened again wait for their last save", async () => {
	const drafts = new MockDrafts();
	let release = () => {};
	const released = new Promise<void>((resolve) => (release = resolve));
	type Written = Parameters<MockDrafts["write"]>[0];
	const shell = new FakeShell({
		drafts: ({ kind, owner }: DraftPlace) => drafts.of(kind, owner),
		write_draft: async (args: Written) => {
			if (args.before !== null) await released;
			return drafts.write(args);
		},
	});
	const engine = api(shell);
	const first = new KeptForms(engine, "messageEdit", "chat", () => {}).of("m");
	first.opened("Hello");
	first.typed("Hello you");
	await first.now();
	first.typed("Hello you there");
	const leaving = first.now();
	let shown = "";
	const again = new KeptForms(engine, "messageEdit", "chat", (_, text) => (shown = text));
	const restored = again.restore(() => "Hello");
	await vi.advanceTimersByTimeAsync(10);
	release();
	await Promise.all([leaving, restored]);
	expect(shown).toBe("Hello you there");
});
