import { expect, test } from "vitest";
import { LICENCES } from "../../../tests/mock/licences";
import { FakeShell } from "../../../tests/unit/shell";
import { api } from "./api";
import { LicenceList } from "./licences.svelte";

async function opened(list: string | null): Promise<LicenceList> {
	const licences = new LicenceList(api(new FakeShell({ third_party_licences: () => list })));
	await licences.open();
	return licences;
}

test("each licence text is found by all words of the query", async () => {
	const licences = await opened(LICENCES);
	expect(licences.texts).toHaveLength(2);
	licences.query = "PERMISSION serde";
	expect(licences.found.map((text) => text.split("\n")[0])).toEqual(["serde 1.0.229, serde_json 1.0.151"]);
	licences.query = "serde font";
	expect(licences.found).toEqual([]);
});

test("a list of another form is one text", async () => {
	expect((await opened("MIT License\n")).texts).toEqual(["MIT License"]);
});

test("build without a list shows no texts", async () => {
	const licences = await opened(null);
	expect([licences.texts, licences.failure]).toEqual([[], null]);
	licences.close();
	expect(licences.texts).toBeNull();
});

test("failure opens no dialog", async () => {
	const refuse = () => {
		throw { kind: "storage", message: "The list cannot be shown.", hint: "Install Inglenook again." };
	};
	const licences = new LicenceList(api(new FakeShell({ third_party_licences: refuse })));
	expect(await licences.open()).toBe(false);
	expect([licences.texts, licences.failure?.kind]).toEqual([null, "storage"]);
});
