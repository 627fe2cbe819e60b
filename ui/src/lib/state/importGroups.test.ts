import { expect, test } from "vitest";
import type { Imported } from "../api/generated";
import type { App } from "./app.svelte";
import { byKind, opener } from "./importGroups";

const row = (kind: string, id = kind): Imported => ({ kind, id, name: id, file: "", warnings: [] });

test("things are grouped by kind in a fixed order", () => {
	const groups = byKind([row("chat"), row("character", "a"), row("new-kind"), row("character", "b")]);
	expect(groups.map(({ kind, rows }) => [kind, rows.length])).toEqual([["character", 2], ["chat", 1], ["other", 1]]);
});

test("a row leads to its thing", () => {
	const opened: string[] = [];
	const app = { openChat: (id: string) => opened.push(`chat ${id}`), openBook: (id: string) => opened.push(`book ${id}`), edit: (id: string) => opened.push(`character ${id}`) } as unknown as App;
	for (const kind of ["group", "lorebook", "character"]) opener(app, row(kind, "x"))?.();
	expect(opened).toEqual(["chat x", "book x", "character x"]);
	expect(opener(app, row("settings"))).toBeNull();
});
