import type { Imported } from "../api/generated";
import type { App } from "./app.svelte";

/** Kinds of imported things, in the order of the report. */
export const KINDS = [
	"character",
	"chat",
	"group",
	"persona",
	"lorebook",
	"template",
	"samplerPreset",
	"chatFormat",
	"regexScript",
	"quickReplies",
	"settings",
	"folder",
	"faces",
	"backgrounds",
	"model",
	"other",
] as const;
export type ImportKind = (typeof KINDS)[number];

const kindOf = ({ kind }: Imported): ImportKind => KINDS.find((known) => known === kind) ?? "other";

/** The imported things by kind. Kinds without any are left out. */
export function byKind(imported: Imported[]): { kind: ImportKind; rows: Imported[] }[] {
	return KINDS.map((kind) => ({ kind, rows: imported.filter((row) => kindOf(row) === kind) })).filter(({ rows }) => rows.length > 0);
}

/** Opens the imported thing; null if it has no place of its own. */
export function opener(app: App, row: Imported): (() => void) | null {
	const { id } = row;
	switch (kindOf(row)) {
		case "character":
			return () => app.edit(id);
		case "chat":
		case "group":
			return () => void app.openChat(id);
		case "lorebook":
			return () => app.openBook(id);
		case "persona":
			return () => app.showPersonas();
		case "template":
			return () => app.openPrompts({ tab: "templates", id });
		case "samplerPreset":
			return () => app.openPrompts({ tab: "samplers" });
		case "chatFormat":
			return () => app.openPrompts({ tab: "formats" });
		case "regexScript":
			return () => app.openPrompts({ tab: "scripts" });
		case "folder":
			return () => app.go("people");
		case "model":
			return () => app.go("models");
		default:
			return null;
	}
}
