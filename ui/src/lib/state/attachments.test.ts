import { expect, test, vi } from "vitest";
import { chat, FakeShell, says } from "../../../tests/unit/shell";
import type { ApiError, Picture } from "../api/generated";
import { api } from "./api";
import { base64 } from "./base64";
import { Attachments, pasted, pastedPictures } from "./attachments.svelte";
import { ChatState } from "./chat.svelte";

const file = (name: string, type = "image/png") => new File([name], name, { type });
const REFUSED: ApiError = { kind: "badInput", message: "The picture cannot be read.", hint: "Use a PNG." };

function shelf(answers: Record<string, (args: never) => unknown> = {}) {
	const failures: ApiError[] = [];
	const shell = new FakeShell({ add_picture: ({ name, data }: Picture & { data: string }) => ({ hash: atob(data), name }), ...answers });
	return { attached: new Attachments(api(shell), (error) => failures.push(error), { kind: "pictures", owner: "chat", target: "" }), shell, failures };
}

test("uploads keep their order, a rejection stops none", async () => {
	const refusing = ({ data }: { data: string }) => {
		if (atob(data) === "bad.png") throw REFUSED;
		return { hash: atob(data), name: "" };
	};
	const { attached, failures } = shelf({ add_picture: refusing });
	const adding = attached.add([file("a.png"), file("bad.png"), file("b.png")]);
	expect(attached.uploading).toBe(3);
	await adding;
	expect([attached.uploading, attached.all.map(({ hash }) => hash), failures]).toEqual([0, ["a.png", "b.png"], [REFUSED]]);
	attached.remove(0);
	expect(attached.all.map(({ hash }) => hash)).toEqual(["b.png"]);
});

test("pasted file has no name, pasted text no pictures", async () => {
	const { attached } = shelf();
	await attached.add([file("image.png")], false);
	expect(attached.all).toEqual([{ hash: "image.png", name: "" }]);
	const paste = (types: string[], files: File[]) => pasted({ types, files } as unknown as DataTransfer);
	expect(paste(["Files"], [file("a.png"), file("b.pdf", "application/pdf")]).map(({ name }) => name)).toEqual(["a.png"]);
	expect(paste(["text/plain", "Files"], [file("a.png")])).toEqual([]);
	expect(pasted(null)).toEqual([]);
});

test("pictures are sent with the text and then removed", async () => {
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
	const callbacks = { deleted: () => {}, undoable: () => {}, detached: () => {}, failed: () => {}, replied: () => {}, announce: () => {}, search: () => {}, exportChat: () => {}, openChat: () => {}, promptChanged: () => {} };
	const picture = { hash: "a.png", name: "a.png" };
	const sent = { ...says("u", "user", ""), pictures: [picture] };
	const { shell } = shelf({
		open_chat: () => chat([says("g", "character", "Good evening.")]),
		send_pictures: () => ({ sent, reply: says("a", "character", "") }),
	});
	const state = new ChatState("chat", api(shell), callbacks);
	await state.load();
	await state.attached.add([file("a.png")]);
	await state.send();
	expect(shell.asked.find(({ operation }) => operation === "send_pictures")).toEqual({ operation: "send_pictures", args: { chat: "chat", text: "", pictures: [picture] } });
	expect([state.attached.all, state.messages.map(({ id }) => id)]).toEqual([[], ["g", "u", "a"]]);
	vi.useRealTimers();
});

test("window reads the clipboard when the paste has no picture", async () => {
	const { shell } = shelf();
	const paste = (types: string[], files: File[] = []) => pastedPictures({ clipboardData: { types, files } } as unknown as ClipboardEvent, shell);
	shell.clipboard = btoa("picture");
	const found = await paste([]);
	expect(await Promise.all((found ?? []).map(base64))).toEqual([btoa("picture")]);
	expect((await paste(["text/html"]))?.map(({ type }) => type)).toEqual(["image/png"]);
	// The event's own picture needs no second reading, and text is no picture.
	expect((await paste(["Files"], [file("a.png")]))?.map(({ name }) => name)).toEqual(["a.png"]);
	expect(paste(["text/plain"])).toBeNull();
	expect(paste(["Files"], [file("b.pdf", "application/pdf")])).toBeNull();
	shell.clipboard = null;
	expect(await paste([])).toEqual([]);
});
