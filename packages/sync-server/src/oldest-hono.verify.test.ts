// Runs the tests of the server's routes with the oldest version of Hono that the package allows.
import * as used from 'hono';
import * as allowed from 'hono-floor';
import { expect, it, vi } from 'vitest';
import './mounted.test.ts';

vi.mock('hono', () => import('hono-floor'));
vi.mock('hono/cors', () => import('hono-floor/cors'));

it('the oldest supported Hono is the version that these tests run with', () => {
  expect(used.Hono).toBe(allowed.Hono);
});
