import hljs from "highlight.js/lib/core";
import type { LanguageFn } from "highlight.js";

type Load = () => Promise<{ default: LanguageFn }>;

/** The app loads each language when a message first needs it. */
const LANGUAGES: Record<string, Load> = {
	bash: () => import("highlight.js/lib/languages/bash"),
	c: () => import("highlight.js/lib/languages/c"),
	cpp: () => import("highlight.js/lib/languages/cpp"),
	csharp: () => import("highlight.js/lib/languages/csharp"),
	css: () => import("highlight.js/lib/languages/css"),
	diff: () => import("highlight.js/lib/languages/diff"),
	go: () => import("highlight.js/lib/languages/go"),
	ini: () => import("highlight.js/lib/languages/ini"),
	java: () => import("highlight.js/lib/languages/java"),
	javascript: () => import("highlight.js/lib/languages/javascript"),
	json: () => import("highlight.js/lib/languages/json"),
	kotlin: () => import("highlight.js/lib/languages/kotlin"),
	latex: () => import("highlight.js/lib/languages/latex"),
	lua: () => import("highlight.js/lib/languages/lua"),
	makefile: () => import("highlight.js/lib/languages/makefile"),
	markdown: () => import("highlight.js/lib/languages/markdown"),
	perl: () => import("highlight.js/lib/languages/perl"),
	php: () => import("highlight.js/lib/languages/php"),
	powershell: () => import("highlight.js/lib/languages/powershell"),
	python: () => import("highlight.js/lib/languages/python"),
	r: () => import("highlight.js/lib/languages/r"),
	ruby: () => import("highlight.js/lib/languages/ruby"),
	rust: () => import("highlight.js/lib/languages/rust"),
	sql: () => import("highlight.js/lib/languages/sql"),
	swift: () => import("highlight.js/lib/languages/swift"),
	typescript: () => import("highlight.js/lib/languages/typescript"),
	xml: () => import("highlight.js/lib/languages/xml"),
	yaml: () => import("highlight.js/lib/languages/yaml"),
};

const ALIASES: Record<string, string> = {
	"c#": "csharp", "c++": "cpp", cc: "cpp", cs: "csharp", golang: "go", h: "c", hpp: "cpp", html: "xml", js: "javascript", json5: "json", jsonc: "json",
	jsx: "javascript", kt: "kotlin", make: "makefile", md: "markdown", mjs: "javascript", patch: "diff", pl: "perl", ps1: "powershell", py: "python",
	rb: "ruby", rs: "rust", sh: "bash", shell: "bash", svelte: "xml", svg: "xml", tex: "latex", toml: "ini", ts: "typescript", tsx: "typescript", vue: "xml", yml: "yaml", zsh: "bash",
};

/** Maximum length of code that is highlighted. */
const LONGEST = 16 * 1024;

const asked = new Set<string>();

/** The highlighter's name of a language; empty if unknown. */
export function language(name: string): string {
	const lower = name.toLowerCase();
	const known = Object.hasOwn(ALIASES, lower) ? (ALIASES[lower] ?? "") : lower;
	return Object.hasOwn(LANGUAGES, known) ? known : "";
}

/** The code as HTML with colours; `null` if there are none. If they are still loading, `loaded` is called afterwards. */
export function highlight(code: string, name: string, loaded: () => void): string | null {
	const known = language(name);
	if (known === "" || code.length > LONGEST) return null;
	if (!hljs.getLanguage(known)) {
		fetchOnce(known, loaded);
		return null;
	}
	try {
		return hljs.highlight(code, { language: known, ignoreIllegals: true }).value;
	} catch {
		return null;
	}
}

function fetchOnce(known: string, loaded: () => void): void {
	if (asked.has(known)) return;
	asked.add(known);
	LANGUAGES[known]?.().then(
		({ default: grammar }) => {
			hljs.registerLanguage(known, grammar);
			loaded();
		},
		// Code is readable without colours.
		() => {},
	);
}
