import type { Type } from '@nestjs/common';

export type Used = Type;
