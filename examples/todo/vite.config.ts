import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const server = `http://localhost:${process.env['TODO_PORT'] ?? 4400}`;

export default defineConfig({
  plugins: [react()],
  optimizeDeps: {
    exclude: ['@rockpool/client'],
    include: [
      '@rockpool/client > comlink',
      '@rockpool/client > yjs',
      '@rockpool/client > y-protocols/awareness',
      'drizzle-orm/sqlite-core/query-builders/raw',
    ],
  },
  worker: { format: 'es' },
  server: { proxy: { '/token': server, '/sync': { target: server, ws: true } } },
});
