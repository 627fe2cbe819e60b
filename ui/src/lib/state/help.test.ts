import { expect, test } from "vitest";
import { PAGES } from "../help/pages";
import { Help } from "./help.svelte";

test("loads all pages in the language of the app", async () => {
	const help = new Help();
	await help.load("de");
	expect(help.pages.map(({ name }) => name)).toEqual(PAGES);
	help.open("memory#forget");
	expect(help.page?.title).toBe("Gedächtnis");
});

test("unknown language shows English pages", async () => {
	const help = new Help();
	await help.load("tlh");
	expect(help.pages.find(({ name }) => name === "memory")?.title).toBe("Memory");
});

test("back returns through the visited places", () => {
	const help = new Help();
	help.open("models");
	help.follow("memory#forget");
	help.follow("xray");
	help.back();
	expect(help.place).toMatchObject({ page: "memory", heading: "forget" });
	help.back();
	help.back();
	expect(help.place).toMatchObject({ page: "models", heading: "" });
});

test("opening again starts without a past", () => {
	const help = new Help();
	help.open("models");
	help.follow("xray");
	help.close();
	help.open("memory");
	expect([help.shown, help.past]).toEqual([true, []]);
});
