import { expect, test, vi } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import type { ApiError, AttachedDocument } from "../api/generated";
import { api } from "./api";
import { Documents } from "./documents.svelte";

const REFUSED: ApiError = { kind: "badInput", message: "\"cat.png\" cannot be attached: it is not UTF-8 text.", hint: "Save it as plain text." };
const file = (name: string, text: string) => new File([text], name);
const document = (name: string): AttachedDocument => ({ id: name, owner: { of: "chat", id: "c" }, name, bytes: 4, passages: 1, created: "" });

/** An engine that stores documents and rejects pictures. */
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
	const callbacks = {
		detached: vi.fn<(name: string, undo: () => Promise<void>) => void>(),
		failed: vi.fn<(error: ApiError) => void>(),
		announce: vi.fn<(text: string) => void>(),
		promptChanged: vi.fn<() => void>(),
	};
	return { documents: new Documents(api(shell), { of: "chat", id: "c" }, callbacks), shell, callbacks };
}

const names = ({ all }: Documents) => all?.map(({ name }) => name);

test("documents keep their order, a rejection stops none", async () => {
	const { documents, shell, callbacks } = shelf();
	const adding = documents.add([file("a.md", "lamp"), file("cat.png", "?"), file("b.txt", "sea")]);
	expect(documents.uploading).toBe(3);
	await adding;
	expect([documents.uploading, names(documents)]).toEqual([0, ["a.md", "b.txt"]]);
	expect(shell.asked[0]).toEqual({ operation: "attach_document", args: { owner: { of: "chat", id: "c" }, name: "a.md", data: btoa("lamp") } });
	expect(callbacks.failed.mock.calls).toEqual([[REFUSED]]);
	expect([callbacks.announce.mock.calls.length, callbacks.promptChanged.mock.calls.length]).toEqual([2, 2]);
});

test("documents are requested by their owner", async () => {
	const { shell, callbacks } = shelf();
	const owner = { of: "lorebook" as const, id: "b" };
	const documents = new Documents(api(shell), owner, callbacks);
	await documents.add([file("a.md", "lamp")]);
	expect(shell.asked).toEqual([
		{ operation: "attach_document", args: { owner, name: "a.md", data: btoa("lamp") } },
		{ operation: "list_documents", args: { owner } },
	]);
});

test("removed document can be restored", async () => {
	const { documents, callbacks } = shelf();
	await documents.add([file("a.md", "lamp")]);
	await documents.remove(document("a.md"));
	expect(names(documents)).toEqual([]);
	const [name, undo] = callbacks.detached.mock.lastCall ?? [];
	expect(name).toBe("a.md");
	await undo?.();
	expect(names(documents)).toEqual(["a.md"]);
});

test("rejected removal is reported and removes nothing", async () => {
	const busy: ApiError = { kind: "busy", message: "A reply is being written.", hint: "Wait for it." };
	const { documents, callbacks } = shelf({
		remove_document: () => {
			throw busy;
		},
	});
	await documents.add([file("a.md", "lamp")]);
	await documents.remove(document("a.md"));
	expect([names(documents), callbacks.failed.mock.calls, callbacks.detached.mock.calls]).toEqual([["a.md"], [[busy]], []]);
});

test("failed list shows its error, and the latest wins", async () => {
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
