/** The pages of the help by group, in the order of the list. Each is a Markdown file in `help/<language>`. */
export const GROUPS = [
	{ name: "start", pages: ["getting-started", "models", "endpoints", "importing"] },
	{ name: "chat", pages: ["chatting", "characters", "personas", "groups", "lorebooks", "documents", "tools", "tool-servers"] },
	{ name: "prompt", pages: ["memory", "context", "xray", "prompt-templates", "presets", "scripts"] },
	{ name: "data", pages: ["backups", "privacy"] },
	{ name: "reference", pages: ["updates", "keyboard", "command-line", "local-api", "troubleshooting"] },
] as const;

export type PageName = (typeof GROUPS)[number]["pages"][number];

/** A page, or a heading on a page as `page#heading`. */
export type Topic = PageName | `${PageName}#${string}`;

export const PAGES: readonly PageName[] = GROUPS.flatMap(({ pages }): readonly PageName[] => pages);

export interface HelpSection {
	/** The same in each language. */
	id: string;
	title: string;
	/** Markdown. */
	text: string;
}

export interface HelpPage {
	name: PageName;
	title: string;
	/** Markdown before the first heading. */
	intro: string;
	sections: HelpSection[];
}

/**
 * Parses a page: its title after `# `, an introduction, and sections. A section starts with `## Title {#id}`.
 * Code blocks must not contain lines that start with `## `.
 */
export function parsePage(name: PageName, source: string): HelpPage {
	const [head = "", ...rest] = source.replaceAll("\r\n", "\n").split(/^## /m);
	const [, title = name, intro = ""] = /^# (.*)\n([\s\S]*)$/.exec(head) ?? [];
	const sections = rest.map((part) => {
		const [line = "", ...text] = part.split("\n");
		const [, words = line, id = ""] = /^(.*?)\s*\{#([a-z0-9-]+)\}\s*$/.exec(line) ?? [];
		return { id, title: words.trim(), text: text.join("\n").trim() };
	});
	return { name, title: title.trim(), intro: intro.trim(), sections };
}

/** Splits a topic into page and heading. The heading is empty for a whole page. */
export function placeOf(topic: Topic): { page: PageName; heading: string } {
	const [page, heading = ""] = topic.split("#");
	return { page: page as PageName, heading };
}

/** The topic of a link between pages, such as `memory.md#forget` or `#forget`; `null` for any other link. */
export function linkedTopic(href: string, from: PageName): Topic | null {
	const [, page = "", heading = ""] = /^(?:([a-z-]+)\.md)?(#[a-z0-9-]+)?$/.exec(href) ?? [];
	const name = page === "" && heading !== "" ? from : PAGES.find((known) => known === page);
	return name ? (`${name}${heading}` as Topic) : null;
}
