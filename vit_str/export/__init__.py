"""Models as ONNX graphs, for onnxruntime here and anywhere else."""
