import { expect, test } from "vitest";
import { MockCardFiles } from "../../../tests/mock/cardFiles";
import { FakeShell } from "../../../tests/unit/shell";
import { api } from "./api";
import { CardFiles } from "./cardFiles.svelte";

async function opened(): Promise<{ files: CardFiles; shell: FakeShell }> {
	const mock = new MockCardFiles();
	const answers = Object.entries(mock).filter(([name]) => name.startsWith("op_"));
	const shell = new FakeShell(Object.fromEntries(answers.map(([name, answer]) => [name.slice(3), (args: never) => structuredClone((answer as (args: never) => unknown)(args))])));
	const files = new CardFiles(api(shell), "mira");
	await files.load();
	return { files, shell };
}

test("uploads run in order, and a rejection stops none", async () => {
	const { files, shell } = await opened();
	const put = shell.answers.add_card_asset;
	shell.answers.add_card_asset = (args: { file: string }) => {
		if (args.file === "large.png") throw { kind: "badInput", message: "The file is too large (40 MiB).", hint: "" };
		return put?.(args as never);
	};
	const before = files.all.length;
	await files.add([new File(["x"], "large.png"), new File(["x"], "fear.png")], "emotion");
	expect([files.all.length - before, files.all.at(-1)?.name, files.uploading]).toEqual([1, "fear", 0]);
	expect(files.failure?.kind).toBe("badInput");
});

test("file is renamed, removed and restored", async () => {
	const { files } = await opened();
	const named = (name: string) => files.all.find((file) => file.name === name);
	const joy = named("joy");
	if (!joy) throw new Error("there is no joy");
	expect(await files.change(joy, "icon", "main")).toBe(false);
	expect(files.failure?.kind).toBe("badInput");
	expect(await files.change(joy, "emotion", "delight")).toBe(true);
	const delight = named("delight");
	const undo = delight && (await files.remove(delight));
	expect(named("delight")).toBeUndefined();
	await undo?.();
	expect(named("delight")?.kind).toBe("emotion");
});

test("loads only files that may be pictures", async () => {
	const { files, shell } = await opened();
	const pictures = await Promise.all(files.all.map(files.picture));
	expect([pictures, shell.count("show_card_asset")]).toEqual([[null, "c2", "c4", null, null, null], 3]);
});
