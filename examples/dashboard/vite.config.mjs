import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';

const input = ['apollo.html', 'urql.html'].map((name) => fileURLToPath(new URL(name, import.meta.url)));

export default { plugins: [react()], build: { target: 'es2022', rollupOptions: { input } } };
