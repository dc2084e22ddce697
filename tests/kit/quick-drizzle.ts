// Node reads the package.json of a module to learn its format, and Node 24 parses all of it for every module. That of
// Drizzle has 180 kB, for its exports: importing its hundred modules took half a second of processor time in every test
// process. Their format is known.

import { registerHooks } from 'node:module';

const DRIZZLE = /\/node_modules\/drizzle-orm\/.*\.js$/;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier.startsWith('.') && context.parentURL !== undefined && DRIZZLE.test(context.parentURL)
      ? { url: new URL(specifier, context.parentURL).href, format: 'module', shortCircuit: true }
      : next(specifier, context),
});
