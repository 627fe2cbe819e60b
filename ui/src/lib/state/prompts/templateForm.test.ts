import { expect, test } from "vitest";
import type { TemplateSection } from "../../api/generated";
import * as form from "./templateForm";

const section = (name: string, over: Partial<TemplateSection> = {}): TemplateSection => ({ name, order: 10, condition: "", heading: "", repeatHeading: false, lines: [], rules: [], isRequired: false, isOn: true, isOwn: true, isInherited: false, ...over });
const json = (...sections: unknown[]) => JSON.stringify({ schema: "s", id: "own", sections });
const sections = (text: string) => (JSON.parse(text) as { sections: Record<string, unknown>[] }).sections;
const line = (text: string, condition = "") => ({ text, condition });

test("inherited section is excluded and comes back", () => {
	const inherited = section("mode", { isOwn: false, isInherited: true });
	const off = form.setOn(json(), inherited, false);
	expect(sections(off)).toEqual([{ name: "mode", exclude: true }]);
	expect(sections(form.setOn(off, inherited, true))).toEqual([]);
});

test("own section keeps its text while it is off", () => {
	const off = form.setOn(json({ name: "rain", lines: ["Rain."] }), section("rain"), false);
	expect(sections(off)).toEqual([{ name: "rain", lines: ["Rain."], exclude: true }]);
});

test("text of an inherited section is replaced with its heading", () => {
	const text = form.setText(json(), section("examples", { isInherited: true, heading: "Examples" }), { lines: [line("One"), line("Two", "isGroup")], rules: [] });
	expect(sections(text)).toEqual([{ name: "examples", override: true, heading: "Examples", lines: ["One", { text: "Two", condition: "isGroup" }] }]);
});

test("moved section gets an order between its neighbours", () => {
	const all = [section("a", { order: 10 }), section("b", { order: 20 }), section("c", { order: 30 })];
	const own = json({ name: "a", order: 10 }, { name: "b", order: 20 }, { name: "c", order: 30 });
	expect(sections(form.move(own, all, "c", 1))[2]).toEqual({ name: "c", order: 15 });
	expect(sections(form.move(own, all, "a", 2))[0]).toEqual({ name: "a", order: 40 });
	expect(sections(form.move(own, all, "c", 0))[2]).toEqual({ name: "c", order: 0 });
	expect(form.move(own, all, "a", -1)).toBe(own);
});

test("sections without room between get new orders", () => {
	const all = [section("a", { order: 1 }), section("b", { order: 2 }), section("c", { order: 9, isOwn: false, isInherited: true })];
	const moved = form.move(json({ name: "a", order: 1 }, { name: "b", order: 2 }), all, "c", 1);
	expect(sections(moved)).toEqual([{ name: "a", order: 10 }, { name: "b", order: 30 }, { name: "c", order: 20 }]);
});

test("new section has a free name and comes last", () => {
	const all = [section("section"), section("mode", { order: 90 })];
	const name = form.freeName(all);
	expect(name).toBe("section2");
	expect(sections(form.add(json(), all, name))).toEqual([{ name: "section2", order: 100, lines: [""] }]);
});

test("unreadable JSON is left as it is", () => {
	const broken = '{"sections": [';
	expect(form.isUnreadable(broken)).toBe(true);
	for (const edited of [form.setOn(broken, section("a"), false), form.remove(broken, "a"), form.add(broken, [], "a")]) expect(edited).toBe(broken);
	expect(form.isUnreadable(json())).toBe(false);
});

test("condition is set and removed", () => {
	const set = form.setCondition(json({ name: "rain", lines: ["Rain."] }), section("rain"), "isGroup");
	expect(sections(set)).toEqual([{ name: "rain", lines: ["Rain."], condition: "isGroup" }]);
	expect(sections(form.setCondition(set, section("rain"), " "))).toEqual([{ name: "rain", lines: ["Rain."] }]);
});
