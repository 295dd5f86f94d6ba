import { Module, type DynamicModule } from '@nestjs/common';
import { Projector } from './projector.js';

export { Projector } from './projector.js';

/** Builds the read models. */
@Module({})
export class ProjectorModule {
  static forRoot(projector: Projector): DynamicModule {
    return {
      module: ProjectorModule,
      global: true,
      providers: [{ provide: Projector, useValue: projector }],
      exports: [Projector],
    };
  }
}
