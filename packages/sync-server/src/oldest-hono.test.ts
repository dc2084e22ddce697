// The server's routes once more, over the oldest Hono that the package allows.
import * as used from 'hono';
import * as allowed from 'hono-floor';
import { expect, it, vi } from 'vitest';
import './mounted.test.ts';

vi.mock('hono', () => import('hono-floor'));
vi.mock('hono/cors', () => import('hono-floor/cors'));

it('it is the one that the tests above have used', () => {
  expect(used.Hono).toBe(allowed.Hono);
});
