import svelte from "eslint-plugin-svelte";
import globals from "globals";
import ts from "typescript-eslint";
import svelteConfig from "./svelte.config.js";

const tauri = {
	patterns: [{ group: ["@tauri-apps/*"], message: "Only lib/api/tauri.ts knows Tauri; the UI also runs in a browser." }],
};

const storage = { name: "localStorage", message: "Use the values of the app; the window of an encrypted folder has no storage of its own." };

export default ts.config(
	{ ignores: ["dist", "test-results", "node_modules", "src/lib/api/generated.ts"] },
	...ts.configs.recommended,
	...svelte.configs.recommended,
	{
		languageOptions: { globals: { ...globals.browser, ...globals.node } },
		rules: {
			eqeqeq: "error",
			"no-console": "error",
			"no-restricted-imports": ["error", tauri],
			"no-restricted-globals": ["error", storage],
			"@typescript-eslint/no-explicit-any": "error",
			"@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
		},
	},
	{
		files: ["**/*.svelte", "**/*.svelte.ts"],
		languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: [".svelte"], svelteConfig } },
		rules: { "svelte/no-at-html-tags": "error", "svelte/no-target-blank": "error" },
	},
	// The one place where a model's text enters the page.
	{ files: ["src/lib/text/Prose.svelte"], rules: { "svelte/no-at-html-tags": "off" } },
	{ files: ["src/lib/api/tauri.ts"], rules: { "no-restricted-imports": "off" } },
	{ files: ["src/lib/state/pageValues.ts", "**/*.test.ts", "tests/**"], rules: { "no-restricted-globals": "off" } },
	{ files: ["tests/browser/**"], rules: { "no-console": "off" } },
);
