#!/usr/bin/env python3
"""Makes the models beside this file: four classifiers of scikit-learn, and digits_mlp_bare.onnx,
which has the weights of digits_mlp.onnx and gives no label.

digits_mlp_bare.mlir is what torch-mlir makes of that one, with rows fixed to 1 and constants folded
by onnxruntime: torch-mlir-import-onnx, then torch-mlir-opt with
--torch-onnx-to-torch-backend-pipeline --torch-backend-to-linalg-on-tensors-backend-pipeline.

The files here were made with Python 3.11.7, scikit-learn 1.9.1, numpy 2.4.6, skl2onnx 1.20.0 and
onnx 1.23.2. Other versions, and other processors, train other weights; the expectations in
scikit_test.cpp have to change with the files.
"""

import pathlib

import numpy
from onnx.utils import extract_model
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import FloatTensorType
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

FOLDER = pathlib.Path(__file__).parent


def train(rows, labels, hidden, **options):
    network = MLPClassifier(hidden, activation="relu", random_state=1, max_iter=2000, **options)
    return network.fit(rows.astype(numpy.float32), labels)


def save(classifier, file):
    columns = classifier.n_features_in_
    model = convert_sklearn(classifier, name=file.stem, target_opset=18,
                            options={id(classifier): {"zipmap": False}},
                            initial_types=[("input", FloatTensorType([None, columns]))])
    file.write_bytes(model.SerializeToString())


def main():
    # 8 x 8 pixels from 0 to 16; ten digits. The last 300 rows are kept for tests.
    digits = load_digits()
    whole, bare = FOLDER / "digits_mlp.onnx", FOLDER / "digits_mlp_bare.onnx"
    save(train(digits.data[:-300], digits.target[:-300], (64, 32), alpha=1), whole)
    # onnxruntime computes the label even if nobody asks for it: benchmarks compare without it.
    extract_model(whole, bare, ["input"], ["probabilities"])

    # Ten means of cells, each scaled; benign or not. The last 100 rows are kept.
    cells = load_breast_cancer()
    means = cells.data[:, :10]
    scaled = (means - means.mean(axis=0)) / means.std(axis=0)
    save(train(scaled[:-100], cells.target[:-100], (8,)), FOLDER / "binary_mlp.onnx")
    logistic = LogisticRegression(max_iter=2000)
    save(logistic.fit(scaled[:-100], cells.target[:-100]), FOLDER / "binary_logistic.onnx")

    # Four measures of a flower, and three kinds.
    flowers = load_iris()
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    save(pipeline.fit(flowers.data, flowers.target), FOLDER / "iris_pipeline.onnx")


if __name__ == "__main__":
    main()
