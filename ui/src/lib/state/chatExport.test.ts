import { expect, test } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import { api } from "./api";
import { ChatExport, SHOWN_PARTS } from "./chatExport.svelte";

const rendered = (text: string) => ({ text, messages: 1, warnings: [] });

test("preview follows the choices and shows the end", async () => {
	const shell = new FakeShell({ render_chat: ({ format }: { format: string }) => rendered(format) });
	const state = new ChatExport(api(shell), "chat");
	await state.setFormat("markdown");
	await state.setPart("times", true);
	expect(shell.asked.at(-1)?.args).toEqual({ chat: "chat", format: "markdown", options: { ...SHOWN_PARTS, times: true }, last: 8 });
	expect(state.preview?.text).toBe("markdown");
});

test("printer gets the whole chat as a page", async () => {
	const shell = new FakeShell({ render_chat: () => rendered("<html>") });
	const state = new ChatExport(api(shell), "chat");
	state.format = "text";
	expect(await state.forPrint()).toBe("<html>");
	expect(shell.asked.at(-1)?.args).toMatchObject({ format: "html", last: null });
});

test("late preview does not replace a newer one", async () => {
	const answers: ((text: string) => void)[] = [];
	const shell = new FakeShell({ render_chat: () => new Promise((resolve) => answers.push((text) => resolve(rendered(text)))) });
	const state = new ChatExport(api(shell), "chat");
	const [first, second] = [state.load(), state.load()];
	answers[1]?.("new");
	await second;
	answers[0]?.("old");
	await first;
	expect(state.preview?.text).toBe("new");
});
