import 'reflect-metadata';
import { Injectable, type OnApplicationBootstrap, type OnModuleInit, RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA, ROUTE_ARGS_METADATA, RouteParamtypes } from '@nestjs/common/internal';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { ROUTE_METADATA, type RouteOptions } from './route.decorator.js';
import { RouteTable, type ShapeClass } from './route-table.js';
import { fieldsOf } from './shape.js';

/** The application does not start with a route that says too little about itself, or that nobody declared. */
class RouteDeclarationError extends Error {
  override readonly name = 'RouteDeclarationError';
}

/** Reads every route's declaration into the table at start-up. */
@Injectable()
export class RouteExplorer implements OnModuleInit, OnApplicationBootstrap {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly routes: RouteTable,
  ) {}

  onModuleInit(): void {
    for (const { metatype, instance } of this.discovery.getControllers()) {
      if (!metatype || !instance) continue;
      const prototype = Object.getPrototypeOf(instance) as object;
      for (const name of this.scanner.getAllMethodNames(prototype))
        this.declare(metatype as ControllerClass, prototype, name);
    }
  }

  /** What the router serves and what was declared must be one list: a route that somebody else added has no guard. */
  onApplicationBootstrap(): void {
    const undeclared = this.routes.undeclared();
    if (undeclared.length > 0) {
      throw new RouteDeclarationError(`served, but not declared with @Route: ${undeclared.join(', ')}`);
    }
  }

  private declare(controller: ControllerClass, prototype: object, name: string): void {
    const method = (prototype as Record<string, unknown>)[name] as object;
    const verb = Reflect.getMetadata(METHOD_METADATA, method) as RequestMethod | undefined;
    if (verb === undefined) return;
    const handler = `${controller.name}.${name}`;
    const options = Reflect.getMetadata(ROUTE_METADATA, method) as RouteOptions | undefined;
    if (!options) throw new RouteDeclarationError(`${handler} has no @Route: who may call it is not declared`);
    if (options.auth.startsWith('session') && options.role === undefined) {
      throw new RouteDeclarationError(`${handler} takes a session and declares no lowest role`);
    }
    const shapes = shapesOf(controller, prototype, name, handler);
    for (const pattern of patternsOf(controller, method)) {
      this.routes.add({ method: RequestMethod[verb], pattern, handler, options, ...shapes });
    }
  }
}

type ControllerClass = new (...dependencies: never[]) => object;

const patternsOf = (controller: ControllerClass, method: object): string[] => {
  const prefixes = [Reflect.getMetadata(PATH_METADATA, controller) as string | string[]].flat();
  const paths = [Reflect.getMetadata(PATH_METADATA, method) as string | string[]].flat();
  return prefixes.flatMap((prefix) =>
    paths.map(
      (path) =>
        `/${[prefix, path]
          .flatMap((part) => part.split('/'))
          .filter(Boolean)
          .join('/')}`,
    ),
  );
};

const shapesOf = (
  controller: ControllerClass,
  prototype: object,
  name: string,
  handler: string,
): { bodyShape: ShapeClass | null; queryShape: ShapeClass | null } => {
  const types = (Reflect.getMetadata('design:paramtypes', prototype, name) as unknown[] | undefined) ?? [];
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {}) as Record<
    string,
    { index: number; data?: unknown }
  >;
  const shapeOf = (kind: RouteParamtypes): ShapeClass | null => {
    const found = Object.entries(parameters).find(([key]) => key.startsWith(`${kind}:`));
    if (!found) return null;
    const type = types[found[1].index];
    // Object, String and their kin declare no field, so nothing could be checked, and nothing would be refused.
    if (found[1].data !== undefined || typeof type !== 'function' || fieldsOf(type as ShapeClass).length === 0) {
      throw new RouteDeclarationError(`${handler} takes a body or query that is not a class with validated fields`);
    }
    return type as ShapeClass;
  };
  return { bodyShape: shapeOf(RouteParamtypes.BODY), queryShape: shapeOf(RouteParamtypes.QUERY) };
};
