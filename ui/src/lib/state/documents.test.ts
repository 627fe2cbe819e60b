import { expect, test, vi } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import type { ApiError, AttachedDocument } from "../api/generated";
import { api } from "./api";
import { Documents } from "./documents.svelte";

const REFUSED: ApiError = { kind: "badInput", message: "\"cat.png\" cannot be attached: it is not text in UTF-8.", hint: "Save it as plain text." };
const file = (name: string, text: string) => new File([text], name);
const document = (name: string): AttachedDocument => ({ id: name, owner: { of: "chat", id: "c" }, name, bytes: 4, passages: 1, created: "" });

/** An engine that keeps what it is given, and takes no picture. */
function shelf(answers: Record<string, (args: never) => unknown> = {}) {
	let there: AttachedDocument[] = [];
	let gone: AttachedDocument[] = [];
	const shell = new FakeShell({
		list_documents: () => there,
		attach_document: ({ name }: { name: string }) => {
			if (name.endsWith(".png")) throw REFUSED;
			there = [...there, document(name)];
			return document(name);
		},
		remove_document: ({ id }: { id: string }) => {
			[there, gone] = [there.filter((one) => one.id !== id), there.filter((one) => one.id === id)];
			return null;
		},
		restore_document: () => {
			there = [...there, ...gone];
			return null;
		},
		...answers,
	});
	const around = {
		detached: vi.fn<(name: string, undo: () => Promise<void>) => void>(),
		failed: vi.fn<(error: ApiError) => void>(),
		said: vi.fn<(text: string) => void>(),
		turned: vi.fn<() => void>(),
	};
	return { documents: new Documents(api(shell), { of: "chat", id: "c" }, around), shell, around };
}

const names = ({ all }: Documents) => all?.map(({ name }) => name);

test("texts are attached to the chat in their order, and a refused one keeps none away", async () => {
	const { documents, shell, around } = shelf();
	const adding = documents.add([file("a.md", "lamp"), file("cat.png", "?"), file("b.txt", "sea")]);
	expect(documents.coming).toBe(3);
	await adding;
	expect([documents.coming, names(documents)]).toEqual([0, ["a.md", "b.txt"]]);
	expect(shell.asked[0]).toEqual({ operation: "attach_document", args: { owner: { of: "chat", id: "c" }, name: "a.md", data: btoa("lamp") } });
	expect(around.failed.mock.calls).toEqual([[REFUSED]]);
	expect([around.said.mock.calls.length, around.turned.mock.calls.length]).toEqual([2, 2]);
});

test("texts of a character or a lorebook are asked for by their owner", async () => {
	const { shell, around } = shelf();
	const owner = { of: "lorebook" as const, id: "b" };
	const documents = new Documents(api(shell), owner, around);
	await documents.add([file("a.md", "lamp")]);
	expect(shell.asked).toEqual([
		{ operation: "attach_document", args: { owner, name: "a.md", data: btoa("lamp") } },
		{ operation: "list_documents", args: { owner } },
	]);
});

test("what is removed can be brought back", async () => {
	const { documents, around } = shelf();
	await documents.add([file("a.md", "lamp")]);
	await documents.remove(document("a.md"));
	expect(names(documents)).toEqual([]);
	const [name, undo] = around.detached.mock.lastCall ?? [];
	expect(name).toBe("a.md");
	await undo?.();
	expect(names(documents)).toEqual(["a.md"]);
});

test("a refused removal is told, and nothing is gone", async () => {
	const busy: ApiError = { kind: "busy", message: "A reply is being written.", hint: "Wait for it." };
	const { documents, around } = shelf({
		remove_document: () => {
			throw busy;
		},
	});
	await documents.add([file("a.md", "lamp")]);
	await documents.remove(document("a.md"));
	expect([names(documents), around.failed.mock.calls, around.detached.mock.calls]).toEqual([["a.md"], [[busy]], []]);
});

test("a list that cannot be read says why, and an older answer does not undo a newer one", async () => {
	const gone: ApiError = { kind: "notFound", message: "This chat is no longer there." };
	const answers: ((all: AttachedDocument[]) => void)[] = [];
	const failing = shelf({
		list_documents: () => {
			throw gone;
		},
	}).documents;
	await failing.load();
	expect([failing.failure, failing.all]).toEqual([gone, null]);
	const { documents } = shelf({ list_documents: () => new Promise((resolve) => answers.push(resolve)) });
	const both = [documents.load(), documents.load()];
	await vi.waitFor(() => expect(answers.length).toBe(2));
	answers[1]?.([document("new.md")]);
	answers[0]?.([document("old.md")]);
	await Promise.all(both);
	expect(names(documents)).toEqual(["new.md"]);
});
