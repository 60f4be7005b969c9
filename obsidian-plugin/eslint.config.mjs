import { defineConfig, globalIgnores } from "eslint/config";
import obsidianmd from "eslint-plugin-obsidianmd";
import tseslint from "typescript-eslint";

export default defineConfig([
  globalIgnores(["node_modules/", "main.js", ".shots/"]),
  ...obsidianmd.configs.recommended,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ["*.mjs", "scripts/*.mjs", "manifest.json"] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
  },
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    rules: {
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "max-lines": ["error", 300],
      "max-lines-per-function": ["error", { max: 40, skipBlankLines: true, skipComments: true }],
      complexity: ["error", 12],
    },
  },
  {
    // Tests run under Node: they may use its modules and its globals.
    files: ["tests/**/*.{ts,mjs}", "scripts/**/*.mjs", "*.config.{ts,mjs}"],
    languageOptions: { globals: { process: "readonly", console: "readonly", URL: "readonly" } },
    rules: {
      "obsidianmd/no-nodejs-modules": "off",
      "import/no-nodejs-modules": "off",
      "max-lines-per-function": "off",
      "max-lines": ["error", 350],
    },
  },
  {
    // The stand-in is what these rules send a plugin to, and what it is built on.
    files: ["tests/browser/**/*.ts"],
    rules: {
      "obsidianmd/hardcoded-config-path": "off",
      "obsidianmd/no-static-styles-assignment": "off",
      "obsidianmd/prefer-create-el": "off",
      "obsidianmd/prefer-instanceof": "off",
      "obsidianmd/prefer-window-timers": "off",
      "obsidianmd/rule-custom-message": "off",
      "no-restricted-globals": "off",
      "@typescript-eslint/no-restricted-imports": "off",
      "import/no-extraneous-dependencies": "off",
      // It runs the plugin as Obsidian does, and casts to the published types in one place.
      "@typescript-eslint/no-implied-eval": "off",
      "@typescript-eslint/no-invalid-void-type": "off",
      "@typescript-eslint/no-unnecessary-type-parameters": "off",
    },
  },
]);
