// Without a preprocessor: Svelte reads TypeScript's types itself, and the styles are plain CSS.
export default {
	compilerOptions: { runes: ({ filename }) => (filename.includes("node_modules") ? undefined : true) },
};
