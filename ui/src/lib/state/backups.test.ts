import { expect, test } from "vitest";
import { MockEngine } from "../../../tests/mock/engine";
import { FakeShell } from "../../../tests/unit/shell";
import { api } from "./api";
import { BackupsState } from "./backups.svelte";
import { TrashState } from "./trash.svelte";

const quiet = { backedUp: () => {}, exported: () => {}, imported: () => {} };

function page() {
	const engine = new MockEngine("chat", "dark", "en");
	return { engine, backups: new BackupsState(api(engine), quiet), trash: new TrashState(api(engine), () => {}) };
}

test("new backup is first", async () => {
	const { backups } = page();
	await backups.load();
	const before = backups.info?.backups.length ?? 0;
	await backups.backUp();
	expect(backups.info?.backups).toHaveLength(before + 1);
	expect(backups.info?.backups[0]?.kind).toBe("byHand");
	expect(backups.working).toBeNull();
});

test("restore is previewed first", async () => {
	const { backups } = page();
	await backups.load();
	const [newest] = backups.info?.backups ?? [];
	if (!newest) throw new Error("no backup");
	await backups.openPreview(newest);
	expect(backups.preview?.chats.lost).toBe(1);
	expect(backups.info?.restorePending).toBe(false);
	await backups.restore();
	expect(backups.info?.restorePending).toBe(true);
	expect(backups.restoring).toBeNull();
});

test("failed backup shows its error and keeps the list", async () => {
	const { engine, backups } = page();
	await backups.load();
	engine.broken = { kind: "storage", message: "The disk is full.", hint: "Free some space." };
	await backups.backUp();
	expect(backups.failure?.message).toBe("The disk is full.");
	expect(backups.info?.backups).not.toHaveLength(0);
});

/** The backups of a data folder that may be encrypted, and the archives that were written. */
function exporting(protection_status: () => unknown) {
	const shell = new FakeShell({ protection_status, backups: () => null });
	const archives: string[] = [];
	shell.exportArchive = async () => "/home/sam/all.zip";
	const backups = new BackupsState(api(shell), { ...quiet, exported: (place) => archives.push(place) });
	return { archives, backups };
}

test("archive of an encrypted folder is written after a question", async () => {
	const plain = exporting(() => ({ protected: false }));
	await plain.backups.askExport();
	expect([plain.backups.exportAsked, plain.archives]).toEqual([false, ["/home/sam/all.zip"]]);
	const { archives, backups } = exporting(() => ({ protected: true }));
	await backups.askExport();
	expect([backups.exportAsked, archives]).toEqual([true, []]);
	await backups.export();
	expect(archives).toEqual(["/home/sam/all.zip"]);
});

test("no archive is written if its protection is not known", async () => {
	const { archives, backups } = exporting(() => Promise.reject({ kind: "internal", message: "The key file is away." }));
	await backups.askExport();
	expect([backups.failure?.message, backups.exportAsked, archives]).toEqual(["The key file is away.", false, []]);
});

test("restored and deleted items leave the trash", async () => {
	const { trash } = page();
	await trash.load();
	const [first, second] = trash.items ?? [];
	if (!first || !second) throw new Error("nothing in the trash");
	await trash.restore(first);
	expect(trash.items?.map(({ id }) => id)).not.toContain(first.id);
	trash.ask(second);
	await trash.confirm(true);
	expect(trash.items).toHaveLength(1);
	trash.ask("all");
	await trash.confirm(false);
	expect(trash.items).toHaveLength(0);
	expect(trash.asked).toBeNull();
});
