import 'reflect-metadata';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Type } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/internal';
import { type DiscoveryService, MetadataScanner } from '@nestjs/core';
import { expect, it } from 'vitest';
import { packageRoot } from '../../apps/api/src/health/build-facts.js';
import { RouteExplorer } from '../../apps/api/src/http/route-explorer.js';
import { RouteTable } from '../../apps/api/src/http/route-table.js';
import { fieldsOf } from '../../apps/api/src/http/shape.js';
import { readOpenApiDocument } from '../../apps/api/src/openapi/openapi-document.js';
import { compareInterface } from './compare-interface.js';

const SOURCES = join(packageRoot(), 'apps', 'api', 'src');

const controllers = async (): Promise<readonly Type[]> => {
  const files = (readdirSync(SOURCES, { recursive: true }) as string[]).filter((name) =>
    name.endsWith('.controller.ts'),
  );
  const modules = await Promise.all(
    files.map((file) => import(join(SOURCES, file)) as Promise<Record<string, unknown>>),
  );
  return modules
    .flatMap((exports) => Object.values(exports))
    .filter((value): value is Type => typeof value === 'function' && Reflect.hasMetadata(PATH_METADATA, value));
};

/** What the controllers declare, read as the application reads it at start-up, without what they work with. */
const declaredRoutes = async (): Promise<RouteTable> => {
  const table = new RouteTable();
  const found = (await controllers()).map((metatype) => ({
    metatype,
    instance: Object.create(metatype.prototype as object) as object,
  }));
  const discovery = { getControllers: () => found } as unknown as DiscoveryService;
  new RouteExplorer(discovery, new MetadataScanner(), table).onModuleInit();
  return table;
};

it('describes every route of every controller, and no other', async () => {
  const table = await declaredRoutes();
  expect(table.entries().length).toBeGreaterThan(25);
  expect(compareInterface(readOpenApiDocument(), table.entries(), fieldsOf)).toEqual([]);
});
