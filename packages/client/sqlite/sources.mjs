// The sources that this build and its tests are made from.

/** The amalgamation of SQLite, from an npm package that contains it unchanged. npm checks the package. */
export const SQLITE = {
  version: '3.54.1',
  package: 'better-sqlite3@13.2.0',
  folder: 'package/deps/sqlite3',
  sha256: '8f7e5c02531623c0950f6f2d28967e4080c9a66299246a2074b89e57523d5ff6',
};

export const WA_SQLITE = {
  url: 'https://github.com/rhashimoto/wa-sqlite.git',
  commit: '2bf1c59d89eb6497535a4217bc62fec68a0bb994',
  sha256: '37a0ce9d94aeb48dd66098d422f2ff0af7165c1c18e763997e489a7e087db348',
};
