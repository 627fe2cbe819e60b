import { expect, test } from "vitest";
import { MockEngine } from "../../../tests/mock/engine";
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
