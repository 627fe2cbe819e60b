import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ApiError } from "../api/generated";
import en from "../i18n/en.json";
import { linkedTopic, PAGES, parsePage, placeOf, type HelpPage, type Topic } from "./pages";
import { nearestHelp, plainText, searchHelp } from "./search";
import { COMMON_TOPICS, TOPIC_WORDS } from "./words";
import { ERROR_TOPICS, errorTopic, SCREEN_PAGES, SETTING_TOPICS } from "./topics";

const read = (language: string): HelpPage[] => PAGES.map((name) => parsePage(name, readFileSync(`help/${language}/${name}.md`, "utf8")));
/** The languages that have help pages. */
const languages = readdirSync("help").sort();
const [english, german] = [read("en"), read("de")];
const whole = ({ intro, sections }: HelpPage) => [intro, ...sections.map(({ text }) => text)].join("\n\n");

function exists(topic: Topic): boolean {
	const { page, heading } = placeOf(topic);
	const found = english.find(({ name }) => name === page);
	return found !== undefined && (heading === "" || found.sections.some(({ id }) => id === heading));
}

describe.each(languages)("pages in %s", (language) => {
	test("same files as in the list", () => {
		expect(readdirSync(`help/${language}`).sort()).toEqual(PAGES.map((page) => `${page}.md`).sort());
	});

	test("same headings as in English", () => {
		const headings = (pages: HelpPage[]) => pages.map(({ name, sections }) => [name, ...sections.map(({ id }) => id)]);
		expect(headings(read(language))).toEqual(headings(english));
	});

	test("titles, texts and unique ids", () => {
		for (const page of read(language)) {
			expect(page.title, page.name).not.toBe("");
			const ids = page.sections.map(({ id }) => id);
			expect(ids, page.name).toEqual([...new Set(ids)].filter(Boolean));
			for (const { id, title, text } of page.sections) expect(title !== "" && text !== "", `${page.name}#${id}`).toBe(true);
		}
	});

	test("links lead to a page and heading", () => {
		for (const page of read(language)) {
			for (const [link, href = ""] of whole(page).matchAll(/\]\(([^)]*)\)/g)) {
				const topic = linkedTopic(href, page.name);
				expect(topic !== null && exists(topic), `${page.name}: ${link}`).toBe(true);
			}
		}
	});

	test("bold names are texts of the app", () => {
		const known = Object.values(JSON.parse(readFileSync(`src/lib/i18n/${language}.json`, "utf8")) as Record<string, string>);
		const names = (page: HelpPage) => [...whole(page).matchAll(/\*\*(.+?)\*\*/g)].map(([, name = ""]) => name).filter((name) => !/[.:]$/.test(name));
		const unknown = read(language).flatMap((page) => names(page).filter((name) => !known.some((text) => text === name || text.startsWith(`${name} {{`))).map((name) => `${page.name}: ${name}`));
		expect(unknown).toEqual([]);
	});

	test("one paragraph is one line", () => {
		// A line break inside a paragraph would be shown.
		for (const page of read(language)) expect(whole(page).replace(/^```[\s\S]*?^```/gm, ""), page.name).not.toMatch(/^\w.*\n\w/m);
	});
});

test("each kind of error has a heading", () => {
	expect(ERROR_TOPICS.filter((topic) => !exists(topic))).toEqual([]);
	const provider: ApiError = { kind: "provider", message: "", hint: "", class: "unauthorized" };
	expect(errorTopic(provider)).toBe("troubleshooting#unauthorized");
	expect(errorTopic({ kind: "notFound", message: "" })).toBe("troubleshooting#not-found");
});

test("each error text has a heading", () => {
	const classes = Object.keys(en).filter((key) => key.startsWith("provider."));
	const kinds = Object.keys(en).filter((key) => key.startsWith("error."));
	// The overflow of engine and endpoint share a heading.
	expect(new Set(ERROR_TOPICS).size).toBe(classes.length + kinds.length - 1);
});

test("links of screens lead to a page and heading", () => {
	const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".svelte"));
	const code = sources.map((path) => readFileSync(join("src", path), "utf8")).join("\n");
	const found = [...code.matchAll(/\btopic="([^"]+)"|help\.open\("([^"]+)"\)|\brender more\("([^"]+)"/g)].map(([, a, b, c]) => (a ?? b ?? c) as Topic);
	expect(found.length).toBeGreaterThan(15);
	const prompts: Topic[] = ["prompt-templates#modes", "presets#samplers", "presets#chat-formats", "scripts"];
	for (const topic of [...found, ...prompts, ...Object.values(SETTING_TOPICS), ...Object.values(SCREEN_PAGES)]) expect(exists(topic), topic).toBe(true);
});

test("relative links stay on their page or change it", () => {
	expect(linkedTopic("memory.md#forget", "xray")).toBe("memory#forget");
	expect(linkedTopic("memory.md", "xray")).toBe("memory");
	expect(linkedTopic("#read", "xray")).toBe("xray#read");
	for (const href of ["", "other.md", "https://example.org/memory.md", "../memory.md", "javascript:alert(1)"]) expect(linkedTopic(href, "xray"), href).toBeNull();
});

test("search ranks titles first and shows the match", () => {
	const [first] = searchHelp(english, "api key");
	expect(first).toMatchObject({ topic: "troubleshooting#unauthorized", page: "Troubleshooting" });
	const hit = searchHelp(english, "PROJECTORS")[0];
	expect(hit).toMatchObject({ topic: "models#other-files", match: "Projectors" });
	expect(searchHelp(english, "  ")).toEqual([]);
	expect(searchHelp(english, "memory zzz")).toEqual([]);
});

test("search ignores case and accents", () => {
	expect(searchHelp(german, "rontgenbild")[0]?.topic).toBe("xray");
	expect(searchHelp(german, "SCHLÜSSELBUND")[0]?.topic).toBe("troubleshooting#keychain");
});

test("search text has no Markdown marks", () => {
	expect(plainText("- **Bold** and `code`, [a link](memory.md#pin)\n\n| A | B |\n|---|---|\n| c | d |")).toBe("Bold and code, a link A B c d");
	for (const page of english) expect(plainText(whole(page)), page.name).not.toMatch(/\*\*|\]\(/);
});

test.each([
	["bigger model", "models#get"],
	["dark mode", "chatting#display"],
	["nsfw", "troubleshooting#poor-replies"],
	["where are my files", "privacy#data"],
	["phone", "local-api#server"],
	["password", "privacy#keys"],
	["password", "privacy#encryption"],
	["forgot passphrase", "privacy#encryption"],
	["boss key", "privacy#lock"],
	["jailbreak", "prompt-templates"],
	["world info", "lorebooks"],
	["swipe", "chatting#replies"],
	["avatar", "characters#editor"],
	["gpu", "models#graphics"],
	["writes for me", "chatting#draft"],
	["talks for me", "chatting#draft"],
	["it repeats itself", "presets#samplers"],
	["author's note", "groups#notes"],
	["new pc", "backups#archive"],
])("people's words lead to their topic: %s", (query, topic) => {
	expect(searchHelp(english, query).slice(0, 5).map((hit) => hit.topic)).toContain(topic);
});

test.each([
	["größeres modell", "models#get"],
	["dunkelmodus", "chatting#display"],
	["wo sind meine dateien", "privacy#data"],
	["grafikkarte", "models#graphics"],
	["handy", "local-api#server"],
	["schreibt für mich", "chatting#draft"],
	["passwort vergessen", "privacy#encryption"],
	["sperren", "privacy#lock"],
])("German words lead to their topic: %s", (query, topic) => {
	expect(searchHelp(german, query).slice(0, 5).map((hit) => hit.topic)).toContain(topic);
});

test("words of topics belong to topics", () => {
	for (const topic of [...Object.keys(TOPIC_WORDS), ...COMMON_TOPICS]) expect(exists(topic as Topic), topic).toBe(true);
});

test("search without a result offers the nearest topics", () => {
	expect(searchHelp(english, "lorbook")).toEqual([]);
	expect(nearestHelp(english, "lorbook").map((hit) => hit.topic)).toContain("lorebooks");
	expect(nearestHelp(english, "qqqqqq").map((hit) => hit.topic)).toEqual(COMMON_TOPICS);
	expect(nearestHelp(english, "backup zzzz")[0]?.topic).toMatch(/^backups/);
});
