// @vitest-environment happy-dom
import '../deliveries.test.ts';
import '../deliveries-lab.test.ts';
import '../deliveries-signature.test.ts';
import '../messages.test.ts';
