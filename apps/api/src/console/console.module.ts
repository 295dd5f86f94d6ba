import { type DynamicModule, Module } from '@nestjs/common';
import { readConsoleFiles } from './console-files.js';
import { CONSOLE_FILES, ConsoleController, SHOWS_KIT } from './console.controller.js';

/** The pages of the Console. What they show comes over the API alone. */
@Module({})
export class ConsoleModule {
  /** @param showsKit the kit of components too, where the service runs for who develops it */
  static forRoot({ showsKit }: { readonly showsKit: boolean }): DynamicModule {
    return {
      module: ConsoleModule,
      controllers: [ConsoleController],
      providers: [
        { provide: CONSOLE_FILES, useFactory: () => readConsoleFiles() },
        { provide: SHOWS_KIT, useValue: showsKit },
      ],
    };
  }
}
