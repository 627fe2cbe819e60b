import { expect, test, vi } from "vitest";
import type { UpdateStatus } from "../api/generated";
import type { Api } from "./api";
import { Updates } from "./updates.svelte";

const idle: UpdateStatus = { version: "0.1.0", method: "app", hasAddress: true, lastCheck: null, phase: "idle", available: null, downloaded: 0, failure: null, nextVersion: null, previous: null };
const available: UpdateStatus = { ...idle, phase: "available", available: { version: "0.2.0", published: null, notes: { en: "Faster.", de: null }, bytes: 1_000, command: null } };
const restart: UpdateStatus = { ...available, phase: "restart", nextVersion: "0.2.0" };

function page(over: Partial<Record<keyof Api, unknown>> = {}, desktop = true) {
	const shell = { desktop, restart: vi.fn(async () => {}) };
	const tell = { available: vi.fn() };
	const api = {
		shell,
		updatesStatus: async () => idle,
		checkForUpdates: async () => available,
		installUpdate: async () => restart,
		goBackToPreviousVersion: async () => restart,
		...over,
	} as unknown as Api;
	return { updates: new Updates(api, tell), shell, tell };
}

test("installed update restarts the desktop app", async () => {
	const { updates, shell } = page();
	await updates.check();
	expect(updates.status?.available?.version).toBe("0.2.0");
	await updates.install();
	expect(updates.status?.phase).toBe("restart");
	expect(shell.restart).toHaveBeenCalledOnce();
});

test("server is not restarted", async () => {
	const { updates, shell } = page({}, false);
	await updates.goBack();
	expect(updates.status?.nextVersion).toBe("0.2.0");
	expect(shell.restart).not.toHaveBeenCalled();
});

test("failed installation does not restart", async () => {
	const refused = { kind: "badInput", message: "The archive is damaged.", hint: "Download the update again." };
	const { updates, shell } = page({ installUpdate: () => Promise.reject(refused) });
	await updates.load();
	await updates.install();
	expect(updates.error?.kind).toBe("badInput");
	expect(updates.status?.phase).toBe("idle");
	expect(shell.restart).not.toHaveBeenCalled();
});

test("only the weekly check tells of a newer version", async () => {
	const { updates, tell } = page();
	await updates.load();
	updates.receive({ ...idle, phase: "checking" });
	expect(updates.busy).toBe(true);
	updates.receive(available);
	expect(tell.available).toHaveBeenCalledExactlyOnceWith("0.2.0");
	updates.receive(available);
	expect(tell.available).toHaveBeenCalledOnce();
});

test("check by hand tells nothing", async () => {
	const state = page({
		checkForUpdates: async () => {
			state.updates.receive({ ...idle, phase: "checking" });
			state.updates.receive(available);
			return available;
		},
	});
	await state.updates.check();
	expect(state.tell.available).not.toHaveBeenCalled();
	expect(state.updates.status?.phase).toBe("available");
});

test("failure in the background is shown until the next step", async () => {
	const failure = { kind: "provider", class: "unreachable", message: "The connection was lost.", hint: "Check the network." } as const;
	const { updates } = page();
	updates.receive({ ...available, failure });
	expect(updates.error?.message).toBe("The connection was lost.");
	await updates.check();
	expect(updates.error).toBeNull();
});
