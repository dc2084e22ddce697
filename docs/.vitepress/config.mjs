import { defineConfig } from 'vitepress';
import { unlinkOutside } from './unlink-outside.mjs';

/** @param {string} text @param {string} link */
const page = (text, link) => ({ text, link });

const icon =
  'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"%3E%3Cpath d="M1 6q3.5-4 7 0t7 0v8H1z" fill="%23176b87"/%3E%3C/svg%3E';

export default defineConfig({
  title: 'Rockpool',
  description: 'Local-first sync on browser SQLite',
  lang: 'en',
  outDir: '../.rockpool/docs/site',
  cacheDir: '../.rockpool/docs/cache',
  cleanUrls: true,
  // A link to a missing page fails the build. Anchors, and links out of docs/, are checked by
  // scripts/docs/links.test.mjs.
  ignoreDeadLinks: false,
  head: [['link', { rel: 'icon', href: icon }]],
  markdown: { config: unlinkOutside },
  vite: { server: { fs: { strict: false } }, build: { chunkSizeWarningLimit: 1500 } },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      page('Quick start', '/quick-start'),
      page('Concepts', '/concepts'),
      page('Guides', '/guides/client'),
      page('Server', '/server'),
      page('Reference', '/api'),
    ],
    sidebar: [
      {
        text: 'Start',
        items: [
          page('When to use Rockpool', '/why'),
          page('Quick start', '/quick-start'),
          page('Concepts', '/concepts'),
        ],
      },
      {
        text: 'Guides',
        items: [
          page('A first app', '/guides/first-app'),
          page('The client', '/guides/client'),
          page('Drizzle', '/guides/drizzle'),
          page('History', '/guides/history'),
          page('Testing an app', '/guides/testing'),
          page('From development to production', '/guides/production'),
        ],
      },
      {
        text: 'Operations',
        items: [
          page('Run the server', '/server'),
          page('Deploy the server', '/operations/deploy'),
          page('Metrics and log events', '/operations/metrics-and-log'),
          page('Traces', '/operations/tracing'),
        ],
      },
      {
        text: 'Reference',
        items: [
          page('API', '/api'),
          page('Error codes', '/errors'),
          page('Configuration', '/configuration'),
          page('Wire protocol', '/protocol'),
          page('Merge rules', '/merge-rules'),
          page('Values and keys', '/values'),
          page('Storage', '/storage'),
          page('Browser support', '/browser-support'),
          page('Benchmarks', '/benchmarks'),
          page('Glossary', '/glossary'),
        ],
      },
      { text: 'Design', items: [page('Decisions', '/decisions/')] },
    ],
  },
});
